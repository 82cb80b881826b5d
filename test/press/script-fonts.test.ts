import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'libsql';
import { decompress } from 'woff2-encoder';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import type { Site } from '../../src/desk/press/edition.ts';
import { cacheControl, securityHeaders } from '../../src/desk/press/feeds/headers.ts';
import { withPageFonts } from '../../src/desk/press/page-fonts.ts';
import { GlyphReader } from '../../src/media/fonts/glyphs.ts';
import { tablesOf } from '../../src/media/fonts/sfnt.ts';
import {
  alphabetFonts,
  pageFonts,
  roomFonts,
  type ScriptFont,
  scriptFonts,
  smallRooms,
} from '../../src/media/script-fonts.ts';
import { phrasesOf } from '../../src/phrases/tables.ts';
import { sha256 } from '../../src/proof/basis.ts';
import { present } from '../../src/proof/narrow.ts';
import { deskOf } from '../../src/server/context.ts';
import { CJK_RANGE, needsScriptFonts, scriptLetters } from '../../src/shared/script-letters.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { START } from '../support/pressed-paper.ts';

const lettersOf = (text: string) => [...scriptLetters(text)].join('');

test('a font has every letter of the phrases of languages that need one, and no Latin, Greek or Cyrillic one', () => {
  for (const language of ['ar', 'he', 'hi', 'ja', 'ko', 'zh']) {
    const letters = lettersOf(JSON.stringify(phrasesOf(language)));
    assert.ok(letters.length > 20, language);
    const fonts = [...alphabetFonts(letters), ...scriptFonts(letters, language)];
    const ranges = fonts.flatMap(({ rule }) => /unicode-range:([^}]*)/.exec(rule)?.[1] ?? []);
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
  assert.deepEqual(families('ja'), ['fonts/biz-udmincho']);
  assert.deepEqual(families('zh-Hans'), ['fonts/noto-serif-sc']);
  assert.deepEqual(families('ko'), ['fonts/song-myung']);
  // As it does where a page has a word of another.
  const beside = (words: string, language: string) => pageFonts('a', `直${words}`, language)[0]?.path.slice(0, 14);
  assert.deepEqual(
    [beside('の', 'zh-Hans'), beside('한글', 'ja'), beside('の', 'ko'), beside('한글', 'en')],
    ['fonts/noto-ser', 'fonts/biz-udmi', 'fonts/song-myu', 'fonts/song-myu'],
  );
});

test('a page’s font has its letters alone, and the bytes of a few', async () => {
  const fonts = (letters: string, language: string) => pageFonts('index.html', letters, language);
  const [font, ...others] = fonts('東京の長さ', 'ja');
  assert.ok(font && others.length === 0);
  const bytes = Buffer.from(await font.bytes());
  const tables = tablesOf(Buffer.from(await decompress(bytes)));
  const reader = new GlyphReader(tables);
  for (const letter of '東京の長さ')
    assert.ok((reader.find(letter.codePointAt(0) ?? 0)?.flags.length ?? 0) > 10, letter);
  assert.equal(reader.find('京都'.codePointAt(1) ?? 0), null);
  assert.ok(bytes.length < 3_000, `${bytes.length} bytes`);
  // The same letters are the same file, and another page's are a file of its own.
  assert.equal(fonts('東京の長さ', 'ja')[0]?.path, font.path);
  assert.notEqual(pageFonts('a/index.html', '東京の長さ', 'ja')[0]?.path, font.path);
  assert.deepEqual(await fonts('東京の長さ', 'ja')[0]?.bytes(), bytes);
  // Packing changes no outline, whichever steps its points take; a part of a package's font has them all.
  for (const [letters, language] of [
    ['東京の長さ永龍鬱々。ー', 'ja'],
    ['한국의길이', 'ko'],
  ] as const) {
    const readerOf = async (font: ScriptFont | undefined) =>
      new GlyphReader(tablesOf(Buffer.from(await decompress(present(await font?.bytes())))));
    const packed = await readerOf(fonts(letters, language)[0]);
    for (const part of scriptFonts(letters, language)) {
      const source = await readerOf(part);
      for (const letter of letters) {
        const code = present(letter.codePointAt(0));
        const found = source.find(code);
        // The length alone may grow, by what fills it up.
        if (found !== null) assert.deepEqual({ ...packed.find(code), length: found.length }, found, letter);
      }
    }
  }
  // A variable font is set to one weight.
  const chinese = tablesOf(Buffer.from(await decompress(present(await fonts('东京', 'zh')[0]?.bytes()))));
  assert.ok(!chinese.has('fvar') && !chinese.has('gvar'));
  // Which pages came before changes nothing: another process draws them in another order.
  const [wide = '', narrow = ''] = ['的一是中国大来上', '一'];
  const [first, second] = [await drawnApart([narrow, wide]), await drawnApart([wide, narrow])];
  assert.deepEqual(first, second.toReversed());
});

test('a rare ideograph takes at most 290 bytes of a font, a rare syllable of Hangul 230', async () => {
  const from = (first: number, last: number, step: number) =>
    Array.from({ length: (last - first) / step }, (_, index) => String.fromCodePoint(first + index * step)).join('');
  for (const [language, letters, most] of [
    ['ja', from(0x3041, 0x3097, 1) + from(0x4e00, 0x9fa0, 30), 290],
    ['zh', from(0x4e00, 0x9fa0, 30), 290],
    ['ko', from(0xac00, 0xd7a0, 10), 230],
  ] as const) {
    const [font] = pageFonts('index.html', letters, language);
    const bytes = Buffer.from(await present(font).bytes());
    const reader = new GlyphReader(tablesOf(Buffer.from(await decompress(bytes))));
    const drawn = [...letters].filter((letter) => reader.find(present(letter.codePointAt(0))) !== null).length;
    assert.ok(drawn > 200 && bytes.length / drawn < most, `${language}: ${bytes.length} bytes for ${drawn} letters`);
  }
});

test('letters that only a script shows have a font of their own, which comes with the first of them', async () => {
  const fonts = pageFonts('index.html', '東京の長さ選応', 'ja', '選応');
  const ranges = fonts.map(({ rule }) => /unicode-range:(.*)}/.exec(rule)?.[1]);
  assert.deepEqual(ranges, [CJK_RANGE, 'U+5fdc,U+9078']);
  const lettersIn = async (font: ScriptFont) => {
    const reader = new GlyphReader(tablesOf(Buffer.from(await decompress(Buffer.from(await font.bytes())))));
    return [...'東京の長さ選応'].filter((letter) => reader.find(letter.codePointAt(0) ?? 0) !== null).join('');
  };
  assert.deepEqual(await Promise.all(fonts.map(lettersIn)), ['東京の長さ', '選応']);
  const words = '<p data-words="選応" aria-label="京">東の</p>';
  const body = `<html lang="ja"><head><link rel="stylesheet" href="/a/fonts.css"></head><body>${words}</body></html>`;
  const files = withPageFonts([{ path: 'index.html', body }], { base: '/a' } as Site);
  const css = files.flatMap((file) => (file.path.endsWith('.css') && 'body' in file ? String(file.body) : [])).join('');
  assert.match(css, /unicode-range:U\+4eac,U\+5fdc,U\+9078}/);
});

/** The digests of pages' fonts that a fresh copy of the module draws, in this order. */
async function drawnApart(texts: readonly string[]): Promise<string[]> {
  const { pageFonts } = await import(`../../src/media/script-fonts.ts?${texts.join()}`);
  const digests: string[] = [];
  for (const text of texts) digests.push(sha256(await pageFonts('index.html', text, 'zh')[0].bytes()));
  return digests;
}

test('letters have the room of their font before it comes', async () => {
  const widthsIn = async (font: Pick<ScriptFont, 'bytes'> | undefined, letters: string, most: number) => {
    const bytes = Buffer.from(await present(font).bytes());
    assert.ok(bytes.length < most, `${letters}: ${bytes.length} bytes`);
    const tables = tablesOf(Buffer.from(await decompress(bytes)));
    const em = present(tables.get('head')).readUInt16BE(18);
    const reader = new GlyphReader(tables);
    return [...letters].map((letter) => (reader.find(letter.codePointAt(0) ?? 0)?.advance ?? 0) / em);
  };
  const fontsOf = (letters: string) =>
    smallRooms(letters).map(({ url, rule }) => {
      assert.ok(rule.includes(`"${url}"`));
      return { bytes: () => fetch(url).then((answer) => answer.bytes()) };
    });
  const [room, ...others] = fontsOf('漢字');
  assert.deepEqual([...roomFonts('漢字'), ...others], []);
  assert.deepEqual(await widthsIn(room, '漢字かなｱ', 1_000), [1, 1, 1, 1, 0.5]);
  const [one = 0, another] = await widthsIn(room, '한글', 1_000);
  assert.ok(one > 0.8 && one < 1 && one === another);
  for (const letters of ['שלום', 'سلام', 'नमत']) {
    const fonts = alphabetFonts(letters);
    const rooms = [...roomFonts(letters), ...fontsOf(letters)];
    assert.equal(rooms.length, fonts.length);
    const most = roomFonts(letters).length > 0 ? 12_000 : 1_000;
    for (const [n, font] of fonts.entries())
      assert.deepEqual(await widthsIn(rooms[n], letters, most), await widthsIn(font, letters, 60_000));
  }
  assert.deepEqual([...roomFonts('plain'), ...smallRooms('plain سلام')], []);
});

test('each of twenty thousand ideographs is in a part of a font, chosen as for it alone', () => {
  const all = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index));
  const paths = (letters: string) => scriptFonts(letters, 'zh').map(({ path }) => path);
  const alone = new Set(all.filter((_, index) => index % 97 === 0).flatMap(paths));
  assert.ok(alone.size > 50);
  const latin = /unicode-range:(?:[^}]*,)?U\+[0-9a-f]{1,3}[-,}]/i;
  for (const { path, rule } of scriptFonts('、（東京）', 'ja'))
    assert.ok(!latin.test(rule), `${path} has Latin letters`);
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
  assert.ok(
    some.length > 0 && some.every((path) => /^fonts\/(?:biz-udmincho-.*\.woff2|[0-9a-f]+\.css)$/.test(path)),
    some.join(),
  );
  assert.ok(read('index.html').includes('/alphabets.css"'), 'its headline is on the front');
  assert.ok(!/(?:fonts|alphabets)\.css/.test(read('stories/plain/index.html')));
  const [, sheet = ''] = /"\/harbor-ledger\/(fonts\/[0-9a-f]+\.css)"/.exec(read('stories/japanese/index.html')) ?? [];
  const [, own = ''] = /url\("(biz-udmincho-[0-9a-f]+\.woff2)"\)/.exec(read(sheet)) ?? [];
  assert.ok(existsSync(join(folder, 'papers', PAPER, 'fonts', own)), `${sheet}: ${own}`);
  for (const [, path = ''] of read('fonts.css').matchAll(/url\("(fonts\/[^"]+)"\)/g))
    assert.ok(existsSync(join(folder, 'papers', PAPER, path)), path);

  // No other page has the font of a page, so replacing it takes no look at the files of the whole paper.
  const { manifest } = app.store.desk;
  const { allFiles } = manifest;
  let looks = 0;
  manifest.allFiles = (paper) => {
    looks++;
    return allFiles(paper);
  };
  const front = /fonts\/[0-9a-f]+\.css/.exec(read('index.html'))?.[0] ?? '';
  await publish('another', { headline: '令和の東京', language: 'ja' });
  assert.ok(!read('index.html').includes(front) && !existsSync(join(folder, 'papers', PAPER, front)));
  assert.equal(looks, 0);

  // A later press adds what later texts need, as a full press would.
  await publish('arabic', { headline: 'المتر', language: 'ar' });
  assert.ok(fonts().some((path) => /^fonts\/amiri-400-[0-9a-f]+\.woff2$/.test(path)));
  assertSameTree(tree(), await fullPress(t, folder, clock, false));

  // What others frame, and a sample of a mail, have fonts too. Their frames may have no origin.
  for (const page of ['embed/arabic/index.html', 'subscribe/sample/index.html']) {
    assert.match(read(page), /alphabets\.css"/, page);
    assert.match(read(page), /amiri.*script-room/s, page);
  }
  for (const path of ['/alphabets.css', '/fonts/a.woff2']) {
    const headers = securityHeaders(path, { root: 'https://a.example', embed_scripts: [] });
    assert.equal(headers['Cross-Origin-Resource-Policy'], 'cross-origin');
    assert.equal(headers['Access-Control-Allow-Origin'], '*');
  }
  // It keeps its name when it names other fonts, and the earlier ones are gone.
  assert.match(cacheControl('/alphabets.css'), /max-age=0,/);

  // The room of letters is of all pages with them: it outlasts one.
  assert.match(
    read('stories/arabic/index.html'),
    /<link rel="preload"[^>]*fonts\/room-amiri[^>]*>.*<link rel="stylesheet"/s,
  );
  clock.now += 60_000;
  withdrawStory(deskOf(app), PAPER, 'arabic', { by: 'cli', reason: 'It was a test.' });
  await publish('persian', { headline: 'متر', language: 'fa' });
  assert.ok(fonts().some((path) => path.startsWith('fonts/room-amiri-')));
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
