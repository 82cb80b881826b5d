import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileContent } from '../../src/desk/ingest/content-folder.ts';
import { writeNewPaper } from '../../src/desk/ingest/new-paper.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { TABLES } from '../../src/phrases/tables.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
/** Writing systems that differ, one of them from right to left. */
const PRESSED = ['ja', 'ar', 'de'];

test('the sample pieces of a new paper in each language pass the door on air, and are pressed with their pictures', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const content = join(folder, 'content');
  const languages = [...Object.keys(TABLES), 'sv'];
  for (const language of languages) {
    const slug = `paper-${language}`;
    const persona = { name: 'Ada Holm', title: 'Editor' };
    writeNewPaper(content, { slug, nameplate: slug, language, url: undefined, sections: ['A', 'B'], persona });
    // To be filled in, as a test of the command sees.
    rmSync(join(content, slug, 'pages/imprint.md'));
    for (const name of readdirSync(join(content, slug, 'stories'))) {
      const file = join(content, slug, 'stories', name);
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^air: false\n/m, ''));
    }
  }
  const app = appContextIn(t, folder, { now: NOW });
  const { problems, filed } = await fileContent(intakeOf(app));
  assert.deepEqual(problems, []);
  // Of each paper its record, a persona, a page, three pictures and four pieces.
  assert.equal(filed.length, languages.length * 10);

  for (const language of PRESSED) {
    const paper = `paper-${language}`;
    await pressPapers(app, { paper, cards: false });
    const page = (path: string) => readFileSync(join(folder, 'papers', paper, path, 'index.html'), 'utf8');
    const front = page('');
    for (const slug of ['how-to-write-a-day', 'three-questions', 'from-the-desk', 'a-picture-and-its-words'])
      assert.ok(front.includes(`stories/${slug}/`), `${language}: ${slug}`);
    assert.match(page('stories/how-to-write-a-day'), /<img[^>]+media\/day\.svg/, language);
    assert.match(page('stories/three-questions'), /<img[^>]+media\/check\.svg/, language);
    assert.match(page('stories/three-questions'), /<h2[\s\S]+<li>/, language);
    assert.match(
      page('stories/a-picture-and-its-words'),
      /<figure[\s\S]+media\/window\.svg[\s\S]+<figcaption/,
      language,
    );
  }
});

test('the pictures of a new paper are small, and have neither words, scripts nor addresses', () => {
  const folder = new URL('../../src/desk/ingest/samples/', import.meta.url);
  const names = readdirSync(folder);
  assert.deepEqual(names.sort(), ['check.svg', 'day.svg', 'window.svg']);
  for (const name of names) {
    const drawing = readFileSync(new URL(name, folder), 'utf8');
    assert.ok(Buffer.byteLength(drawing) < 4_000, name);
    assert.doesNotMatch(drawing, /<(?:text|script|style|image|use|foreignObject)|href|url\(/, name);
  }
});
