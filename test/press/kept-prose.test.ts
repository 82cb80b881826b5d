import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { proseModules } from '../../src/app/build.ts';
import { codeDigest } from '../../src/app/code-digest.ts';
import type { AppContext } from '../../src/app/context.ts';
import { pressPapers } from '../../src/app/press-run.ts';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/filing.ts';
import { sha256 } from '../../src/ledger/basis.ts';
import { keptProse, shownProse } from '../../src/press/kept-prose.ts';
import { proseHtml } from '../../src/press/prose-html.ts';
import { PROJECT } from '../../src/project.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import * as fc from '../support/properties.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const PAGE = 'stories/tide/index.html';

/** A paper with one piece, pressed. */
async function pressed(t: { after(work: () => void): void }) {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  fileStory(app.desk, PAPER, filing('tide'), { by: 'cli' });
  airStory(app.desk, PAPER, 'tide', { by: 'cli', at: clock.now });
  await pressPapers(app, { cards: false });
  const page = join(folder, 'papers', PAPER, PAGE);
  return { app, clock, folder, page };
}

/** Changes the prose on a page, and what the manifest says of the page: no press can tell it from one of its own. */
function forge({ store }: AppContext, page: string): void {
  const bytes = Buffer.from(readFileSync(page, 'utf8').replace('<div class="prose"><p>', '$&FORGED '));
  writeFileSync(page, bytes);
  const [output] = store.manifest.outputs(PAPER).filter((name) => name === 'story/tide');
  const tags = ['forged'].join('\n');
  store.manifest.record(PAPER, [
    { name: output ?? '', tags, exists: true, changed: [{ path: PAGE, digest: sha256(bytes) }], gone: [] },
  ]);
}

test('a full press takes prose from the pages of the press before, as long as the same code renders it', async (t) => {
  const { app, clock, folder, page } = await pressed(t);
  const isForged = () => readFileSync(page, 'utf8').includes('FORGED');
  forge(app, page);
  await pressPapers(app, { full: true, cards: false });
  assert.ok(isForged(), 'the prose was parsed again');
  // Nobody knows which code wrote this page.
  app.store.manifest.setProseCode(PAPER, 'another version');
  await pressPapers(app, { full: true, cards: false });
  assert.ok(!isForged(), 'prose of another version was kept');
  assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
});

test('a press that was killed leaves no prose that the next one takes for its own', async (t) => {
  const { app, page } = await pressed(t);
  app.store.manifest.setProseCode(PAPER, 'another version');
  const killed = () => {
    throw new Error('the power went');
  };
  await pressPapers(app, { full: true, cards: false, progress: killed }).catch(() => undefined);
  assert.equal(app.store.manifest.proseCode(PAPER), '');
  forge(app, page);
  await pressPapers(app, { full: true, cards: false });
  assert.ok(!readFileSync(page, 'utf8').includes('FORGED'));
});

test('pages that a program pressed which keeps no prose are parsed again', async (t) => {
  const { app, page } = await pressed(t);
  // It began before the database was migrated, and sets the stamp alone.
  app.store.manifest.setStamp(PAPER, 'an older program');
  forge(app, page);
  await pressPapers(app, { cards: false });
  assert.ok(!readFileSync(page, 'utf8').includes('FORGED'));
});

test('a damaged page is written anew, and one of another revision or of a withdrawn piece is not taken', async (t) => {
  const { app, clock, folder, page } = await pressed(t);
  const sound = readFileSync(page, 'utf8');
  writeFileSync(page, sound.replace('<div class="prose"><p>', '$&DAMAGED '));
  await pressPapers(app, { full: true, cards: false });
  assert.equal(readFileSync(page, 'utf8'), sound);
  fileStory(app.desk, PAPER, filing('tide', { prose: 'The tide was late.[^1] The quay was wet.[^2]' }), { by: 'cli' });
  await pressPapers(app, { full: true, cards: false });
  assert.match(readFileSync(page, 'utf8'), /The tide was late\./);
  withdrawStory(app.desk, PAPER, 'tide', { by: 'cli', reason: 'It was wrong.' });
  await pressPapers(app, { full: true, cards: false });
  assert.doesNotMatch(readFileSync(page, 'utf8'), /The tide was late\./);
  assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));
});

test('prose on a page is found as it was rendered, whatever it says', () => {
  const FACTS = [1, 2, 3].map((n) => ({ n, statement: 'So.', source: 'A "source"', instrument: 'i', claim_key: null }));
  const words = fc.constantFrom(
    ...['Tide', '[^1]', '[^2]', '[^9]', '</div>', '<div class="prose">', '\n</div>\n', '\n\n', '\n', '`x </div>`'],
    ...[
      '```\n</div>\n```\n',
      '# ',
      '> ',
      '* ',
      '| a | b |\n|---|---|\n| c | d |\n',
      '&lt;',
      '**',
      '潮',
      '\u2028',
      '\ufeff',
    ],
    ...['<sup class="marker" id="x" data-n="1">', '[a](https://a.example "t")', '~~', '---\n', '    code\n', ' '],
  );
  const content_hash = `sha256:${'ab'.repeat(32)}`;
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 12 }), (parts) => {
      const prose = parts.join('');
      const rendered = shownProse(
        proseHtml(prose, FACTS, (path) => path),
        { prose, language: 'en' },
      );
      const json = `{"wordCount":${rendered.words},"inLanguage":"en","value":"${content_hash}"}`;
      const page = `<title>"wordCount":99</title><script>${json}</script><div class="prose">${rendered.html}</div></article></div>`;
      if (rendered.html === '') return;
      assert.deepEqual(keptProse(Buffer.from(page), { content_hash }), rendered);
    }),
  );
  const page = Buffer.from(`"wordCount":1,"value":"${content_hash}"<div class="prose"><p>a</p>\n</div>`);
  assert.equal(keptProse(page, { content_hash })?.words, 1);
  assert.equal(keptProse(page, { content_hash: 'sha256:cd' }), null);
  assert.equal(keptProse(page.subarray(0, -1), { content_hash }), null);
});

test('prose that shows pictures is rendered again, and not what only looks as if', () => {
  const content_hash = `sha256:${'ab'.repeat(32)}`;
  const kept = (prose: string) => {
    const { html } = proseHtml(prose, [], (path) => path);
    const page = `"wordCount":1,"value":"${content_hash}"<div class="prose">${html}</div>`;
    return keptProse(Buffer.from(page), { content_hash })?.html ?? null;
  };
  const pictures = ['![p](media/p.jpg)', 'a ![](media/p.jpg) b', '[![p][r]](https://a.example)\n\n[r]: media/p.jpg'];
  for (const prose of [...pictures, '![a\n</div>](media/p.jpg)\n![b](media/q.jpg "\n</div>")'])
    assert.equal(kept(prose), null);
  for (const prose of ['Wow![^1]', '`![p](media/p.jpg)`', '<img src="media/p.jpg">', '[a](b.html "<img")']) {
    assert.equal(kept(prose), proseHtml(prose, [], (path) => path).html);
  }
});

test('every module that has the parser in hand counts as code that renders prose', () => {
  const holders = readdirSync(join(PROJECT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|astro)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => /\bmarkdown\b[^;]*\}\s*from\s+'[^']*\/prose\.ts'/.test(readFileSync(file, 'utf8')));
  assert.ok(holders.length > 1);
  assert.deepEqual(
    holders.filter((file) => !proseModules().includes(file)),
    [],
  );
});

test('the digest of code follows every import, and the versions of packages', (t) => {
  const folder = tempFolder(t);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('a.ts', "import type { T } from './t.ts';\nimport {\n  b,\n} from './b.ts';\nimport './c.ts';\n");
  write('b.ts', "export { c } from './c.ts';\n");
  write('c.ts', 'export const c = 1;\n');
  write('t.ts', 'export type T = 1;\n');
  const digest = () => codeDigest([pathToFileURL(join(folder, 'a.ts'))]);
  const first = digest();
  write('t.ts', 'export type T = 2;\n');
  assert.equal(digest(), first);
  write('c.ts', 'export const c = 2;\n');
  assert.notEqual(digest(), first);
  const installed = (name: string, version: string, dependencies = {}) => {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    write(`node_modules/${name}/package.json`, JSON.stringify({ version, dependencies }));
  };
  write('c.ts', "import p from 'p';\nimport { join } from 'node:path';\n");
  installed('p', '1.0.0', { q: '^1.0.0' });
  installed('q', '1.0.0');
  const before = digest();
  installed('q', '1.0.1');
  assert.notEqual(digest(), before);
});
