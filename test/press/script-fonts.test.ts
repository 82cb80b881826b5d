import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import { airStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { scriptFonts } from '../../src/media/script-fonts.ts';
import { phrasesOf } from '../../src/phrases/tables.ts';
import { deskOf } from '../../src/server/context.ts';
import { needsScriptFonts, scriptLetters } from '../../src/shared/script-letters.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { START } from '../support/pressed-paper.ts';

const lettersOf = (text: string) => [...scriptLetters(text)].join('');

test('a font has every letter of the phrases of languages that need one, and no Latin, Greek or Cyrillic one', () => {
  for (const language of ['ar', 'he', 'hi', 'ja', 'ko', 'zh']) {
    const letters = lettersOf(JSON.stringify(phrasesOf(language)));
    assert.ok(letters.length > 20, language);
    const ranges = scriptFonts(letters, language).flatMap(({ rule }) => /unicode-range:([^}]*)/.exec(rule)?.[1] ?? []);
    const spans = ranges
      .join()
      .split(',')
      .map((range) =>
        range
          .slice(2)
          .split('-')
          .map((code) => Number.parseInt(code, 16)),
      );
    for (const letter of letters) {
      const code = letter.codePointAt(0) ?? 0;
      assert.ok(
        spans.some(([from = 0, to = from]) => code >= from && code <= to),
        `${language}: ${letter}`,
      );
    }
  }
  for (const language of ['en', 'de', 'pl', 'tr', 'uk'])
    assert.equal(needsScriptFonts(JSON.stringify(phrasesOf(language))), false, language);
  assert.equal(needsScriptFonts('Ελληνικά, Việt, ﬁ, 1884 — “x” 🙂'), false);
});

test('the language decides between fonts that share an ideograph', () => {
  const families = (language: string) => scriptFonts('直', language).map(({ path }) => path.replace(/-\d+-.*/, ''));
  assert.deepEqual(families('ja'), ['fonts/zen-antique']);
  assert.deepEqual(families('zh-Hans'), ['fonts/noto-serif-sc']);
  assert.deepEqual(families('ko'), ['fonts/song-myung']);
});

test('each of twenty thousand ideographs is in a part of a font, chosen as for it alone', () => {
  const all = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index));
  const paths = (letters: string) => scriptFonts(letters, 'zh').map(({ path }) => path);
  const alone = new Set(all.filter((_, index) => index % 97 === 0).flatMap(paths));
  assert.ok(alone.size > 50);
  const together = new Set(paths(all.join('')));
  assert.deepEqual(
    [...alone].filter((path) => !together.has(path)),
    [],
  );
});

test('a paper has the parts of fonts that its texts need, and only pages with such letters link to them', async (t) => {
  const folder = tempFolder(t);
  const clock = { now: START };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const tree = () => treeOf(join(folder, 'papers', PAPER));
  const fonts = () => [...tree().keys()].filter((path) => path.startsWith('fonts/'));
  const publish = async (slug: string, more: object) => {
    clock.now += 60_000;
    fileStory(deskOf(app), PAPER, filing(slug, more), { by: 'cli' });
    airStory(deskOf(app), PAPER, slug, { by: 'cli', at: clock.now });
    await pressPapers(app, { cards: false });
  };
  // What an empty paper lacks comes with its first piece.
  await pressPapers(app, { cards: false });
  await publish('plain', {});
  assert.deepEqual(fonts(), []);
  const read = (path: string) => readFileSync(join(folder, 'papers', PAPER, path), 'utf8');
  assert.ok(!read('index.html').includes('fonts.css'));

  await publish('japanese', { headline: '令和', language: 'ja' });
  const some = fonts();
  assert.ok(some.length > 0 && some.every((path) => path.startsWith('fonts/zen-antique-')), some.join());
  assert.ok(read('stories/japanese/index.html').includes('/fonts.css"'));
  assert.ok(read('index.html').includes('/fonts.css"'), 'its headline is on the front');
  assert.ok(!read('stories/plain/index.html').includes('fonts.css'));
  for (const [, path = ''] of read('fonts.css').matchAll(/url\("([^"]+)"\)/g))
    assert.ok(existsSync(join(folder, 'papers', PAPER, path)), path);

  // A later press adds what later texts need, as a full press would.
  await publish('arabic', { headline: 'المتر', language: 'ar' });
  assert.ok(fonts().includes('fonts/amiri-arabic-400-normal.woff2'));
  assertSameTree(tree(), await fullPress(t, folder, clock, false));

  // A database of an earlier version has texts that were never looked through.
  const before = tree();
  const database = new Database(join(app.settings.dataDir, 'broadsheet.db'));
  database.exec('DELETE FROM script_letters; DELETE FROM script_scans');
  database.close();
  await pressPapers(app, { cards: false, full: true });
  assertSameTree(tree(), before);
});

test('texts are looked through in batches while others write; what came meanwhile counts, and a scan cut short stores nothing', (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: START });
  createPaper(app);
  const { scripts } = app.store.desk;
  const note = (letter: string) =>
    append(app.store.desk, {
      ...{ type: 'record', at: START, paper: PAPER, kind: 'persona', name: `of-${letter}` },
      body: { slug: `of-${letter}`, name: letter, title: '', beat: '', bio: '', avatar: null, active: true },
    });
  const kana = (index: number) => String.fromCodePoint(0x4e00 + index);
  app.store.database.transact(() => {
    for (let index = 0; index < 250; index++) note(kana(index));
  });
  const other = new Database(join(app.settings.dataDir, 'broadsheet.db'), { timeout: 0 });
  const scan = () => scripts.scan(PAPER, () => 'ja');
  const letters = () => scripts.of(PAPER).map(({ letters }) => letters.length);

  const killed = scan();
  assert.ok(killed.step());
  // A scan that held the lock would keep this one from beginning.
  other.exec('BEGIN IMMEDIATE; ROLLBACK');
  assert.deepEqual(letters(), []);

  const whole = scan();
  let steps = 1;
  while (whole.step()) steps++;
  assert.ok(steps > 3);
  note(kana(250));
  assert.equal(
    app.store.database.transact(() => !whole.step() && whole.save()),
    true,
  );
  assert.deepEqual(letters(), [251]);
  assert.equal(
    app.store.database.transact(() => !whole.step() && whole.save()),
    false,
    'nothing is new',
  );
  assert.equal(scan().step(), false, 'nothing is looked through twice');
  other.close();
});
