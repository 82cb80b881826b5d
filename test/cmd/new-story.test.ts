import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPaper, writeNewPaper } from '../../src/desk/ingest/new-paper.ts';
import { newStory } from '../../src/desk/ingest/new-story.ts';
import { tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';

function contentWith(folder: string, ...slugs: string[]): string {
  const content = join(folder, 'content');
  for (const slug of slugs) {
    const asked = {
      slug,
      name: 'The Quay',
      language: 'en',
      url: undefined,
      sections: ['News', 'Notes'],
      persona: 'Ada Holm, Editor',
    };
    writeNewPaper(content, newPaper(asked).paper);
  }
  return content;
}

test('new story begins a draft that the door takes once it is filled in', async (t) => {
  const folder = tempFolder(t);
  const content = contentWith(folder, 'the-quay');
  const args = ['new', 'story', 'Ferries: "back" again', '--section', 'Notes'];
  const made = await run(t, folder, args);
  assert.match(made.stdout, /^wrote \S*content\/the-quay\/stories\/ferries-back-again\.md\n/);
  const file = join(content, 'the-quay/stories/ferries-back-again.md');
  const text = readFileSync(file, 'utf8');
  assert.match(text, /^headline: "Ferries: \\"back\\" again"$/m);
  assert.match(text, /^category: "Notes"$/m);
  assert.match(text, /^byline: ada-holm$/m);
  const unfilled = await run(t, folder, ['file', '--no-press', file]);
  assert.match(unfilled.stderr, /:9 cited_facts\[0\]\.statement: "⟦what the first source says⟧" is to be filled in/);
  // Neither may go on air what stands around the sources.
  writeFileSync(file, text.replace(/^( .*: ")⟦([^⟧]*)⟧/gm, '$1$2').replace('air: false\n', ''));
  const half = await run(t, folder, ['file', '--no-press', file]);
  assert.match(half.stderr, /:3 dek: "⟦the piece in one sentence⟧" is to be filled in; write what belongs there/);
  assert.match(half.stderr, /prose: "⟦The first sentence rests on the first source\.⟧" is to be filled in/);
  assert.match(half.stdout, /^0 filed/m);
  writeFileSync(file, text.replace(/⟦([^⟧]*)⟧/g, '$1'));
  const filled = await run(t, folder, ['file', '--no-press', file]);
  assert.match(filled.stdout, /^filed the-quay\/stories\/ferries-back-again\.md$/m);
});

test('pieces that begin at once each get a file, and none is overwritten', (t) => {
  const content = contentWith(tempFolder(t), 'the-quay');
  const files = Array.from({ length: 3 }, () => newStory(content, { headline: 'Same' }));
  assert.deepEqual(
    files.map((file) => file.replace(/^.*\//, '')),
    ['same.md', 'same-2.md', 'same-3.md'],
  );
  mkdirSync(join(content, '.hidden'));
  assert.equal(readdirSync(join(content, 'the-quay/stories')).length, 7, 'beside the samples');
});

test('a story without a paper, a section or a persona that exists is refused by the option’s name', (t) => {
  const folder = tempFolder(t);
  const content = contentWith(folder, 'the-quay');
  const begin =
    (asked: object, at = content) =>
    () =>
      newStory(at, { headline: 'One', ...asked });
  assert.throws(begin({ headline: ' ' }), /the headline is empty/);
  assert.throws(begin({ section: 'Sport' }), /--section Sport is not a section of this paper; use one of News, Notes/);
  assert.throws(begin({ persona: 'nobody' }), /--persona nobody is not on the masthead; use ada-holm/);
  assert.throws(begin({ paper: 'other' }), /has no paper other; name one with --paper: the-quay/);
  assert.throws(begin({}, join(folder, 'empty')), /has no paper; make one with .* new SLUG/);
  contentWith(folder, 'second');
  assert.throws(begin({}), /there are several papers; name one with --paper: second, the-quay/);
  writeFileSync(join(content, 'second/paper.yaml'), 'nameplate: [');
  assert.throws(begin({ paper: 'second' }), /second\/paper\.yaml has errors; run `.* file`, which lists them/);
});
