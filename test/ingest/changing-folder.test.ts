import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { DeskFolder, LINK } from '../../src/desk/ingest/desk-folder.ts';
import { MEDIA_READER, type MediaReader } from '../../src/desk/ingest/filed-media.ts';
import type { Intake } from '../../src/desk/ingest/intake.ts';
import { applyRecords } from '../../src/desk/ingest/record-files.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9"><rect width="16" height="9"/></svg>\n';
const STORY = `---
headline: The tide turns
dek: At six.
category: City
byline: ines-calloway
cited_facts:
  - statement: One thing is so.
    source: RFC Editor
    instrument: https://www.rfc-editor.org/rfc/rfc2119
  - statement: Another is so.
    source: NIST
    instrument: FIPS 180-4
---

One thing is so.[^1] Another is so.[^2]
`;

function contentIn(t: TestContext): string {
  const folder = tempFolder(t);
  const files = {
    'paper.yaml': 'nameplate: The Quay\nsections: [City]\n',
    'masthead/ines-calloway.yaml': 'name: Ines Calloway\ntitle: Editor\n',
    'media/art/quay.svg': SVG,
    'stories/sound.md': STORY,
    'stories/late.md': STORY,
  };
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, 'content/quay', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}

test('a file that becomes a link while a folder is filed is not followed', async (t) => {
  const folder = contentIn(t);
  const at = (path: string) => join(folder, 'content/quay', path);
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.md'), STORY.replace('The tide turns', 'A secret'));
  writeFileSync(join(outside, 'secret.svg'), SVG.replace('16', '17'));
  const swap = (path: string, target: string) => {
    rmSync(at(path), { recursive: true });
    symlinkSync(target, at(path));
  };
  const app = appContextIn(t, folder, { now: Date.now() });
  const intake: Intake = {
    ...intakeOf(app),
    // Asked for after the folder was listed and before the first story is read.
    openSigningKey: () => {
      swap('stories/late.md', join(outside, 'secret.md'));
      return app.signer.open();
    },
  };
  const seen: string[] = [];
  const reading: MediaReader = {
    digestOf: MEDIA_READER.digestOf,
    inspect: (name, path) => {
      seen.push(name);
      if (existsSync(at('media/art/quay.svg'))) swap('media/art', outside);
      writeFileSync(join(outside, 'quay.svg'), readFileSync(join(outside, 'secret.svg')));
      return MEDIA_READER.inspect(name, path);
    },
  };
  const records = new DeskFolder(intake, join(folder, 'content/quay'));
  await applyRecords(records, reading);
  assert.deepEqual(seen, ['media/art/quay.svg']);
  assert.deepEqual(
    records.result.problems.map(({ file, message }) => [file, message]),
    [['quay/media/art/quay.svg', LINK]],
  );
  assert.equal(app.store.desk.archive('quay').media('media/art/quay.svg'), null);
  rmSync(at('media/art'));
  const { filed, problems } = await fileContent(intake, [join(folder, 'content/quay')]);
  assert.deepEqual(filed, ['quay/stories/sound.md']);
  assert.deepEqual(
    problems.map(({ file, message }) => [file, message]),
    [['quay/stories/late.md', LINK]],
  );
});

test('a media file that changes while it is read is rejected, and not stored under a wrong digest', async (t) => {
  const folder = contentIn(t);
  const app = appContextIn(t, folder, { now: Date.now() });
  const picture = join(folder, 'content/quay/media/art/quay.svg');
  const records = new DeskFolder(intakeOf(app), join(folder, 'content/quay'));
  await applyRecords(records, {
    digestOf: MEDIA_READER.digestOf,
    inspect: async (name, path) => {
      const media = await MEDIA_READER.inspect(name, path);
      writeFileSync(picture, SVG.replace('16', '18'));
      return media;
    },
  });
  assert.match(records.result.problems[0]?.message ?? '', /^the file changed while it was read; file it again/);
  assert.equal(app.store.desk.archive('quay').media('media/art/quay.svg'), null);
  const { filed, problems } = await fileContent(intakeOf(app), [join(folder, 'content/quay')]);
  assert.ok(filed.includes('quay/media/art/quay.svg'));
  assert.deepEqual(problems, []);
});

test('a page stays on air while its file or its folder is a link', async (t) => {
  const folder = contentIn(t);
  const paper = join(folder, 'content/quay');
  const pages = join(paper, 'pages');
  mkdirSync(pages);
  writeFileSync(join(pages, 'about.md'), '---\ntitle: About us\n---\n\nText.\n');
  const app = appContextIn(t, folder, { now: Date.now() });
  await fileContent(intakeOf(app), [paper]);
  const isThere = () => app.store.desk.record('quay', 'page', 'about') !== null;
  assert.ok(isThere());
  const nowhere = join(folder, 'nowhere');
  for (const linked of [join(pages, 'about.md'), pages]) {
    rmSync(linked, { recursive: true });
    symlinkSync(nowhere, linked);
    const { problems } = await fileContent(intakeOf(app), [paper]);
    assert.deepEqual(
      problems.map(({ message }) => message),
      [LINK],
    );
    assert.ok(isThere(), linked);
  }
  rmSync(pages);
  assert.deepEqual((await fileContent(intakeOf(app), [paper])).filed, ['quay/pages/about.md']);
  assert.ok(!isThere(), 'a page whose file is gone is removed');
});
