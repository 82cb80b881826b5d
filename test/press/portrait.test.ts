import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { airStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { personaChange } from '../../src/desk/papers/record.ts';
import { portraitCode } from '../../src/desk/press/pictures.ts';
import { deepPalette, palePalette } from '../../src/media/card/card-color.ts';
import { drawPortrait } from '../../src/media/draw-portrait.ts';
import { inspectMedia } from '../../src/media/inspect.ts';
import { monogramOf, PORTRAIT_SIDE, portraitId } from '../../src/media/portrait.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { sha256 } from '../../src/proof/basis.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, PERSONAS, tempFolder, treeOf } from '../support/app-context.ts';
import { ownPictures } from '../support/empty-database.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const [SLUG = ''] = PERSONAS;
const PATH = `portraits/${SLUG}.png`;

test('a monogram is the initials of a name in scripts with capitals, else its first sign', () => {
  const cases: [name: string, language: string, monogram: string][] = [
    ['Vera Holm', 'en', 'VH'],
    ['vera van der Holm', 'en', 'VH'],
    ['Vera', 'en', 'V'],
    ['ışıl ince', 'tr', 'Iİ'],
    ['ßeta', 'de', 'S'],
    ['“Ace” O’Hara', 'en', 'AO'],
    ['🤖 Iris 🌊', 'en', 'I'],
    ['e\u0301va', 'fr', 'É'],
    ['X\u0302enon', 'en', 'X\u0302'],
    ['άννα ρίζου', 'el', 'ΑΡ'],
    ['жанна щука', 'uk', 'ЖЩ'],
    ['梅小雪', 'zh', '梅'],
    ['星峰 凪', 'ja', '星'],
    ['김하늘', 'ko', '김'],
    ['ليلى حداد', 'ar', 'ل'],
    ['נועם כהן', 'he', 'נ'],
    ['क्षितिज शर्मा', 'hi', 'क्षि'],
    ['7 Sisters', 'en', '7'],
    ['🌊🌊', 'en', ''],
  ];
  for (const [name, language, monogram] of cases) assert.equal(monogramOf(name, language), monogram, name);
});

test('a portrait is drawn for any name, the same bytes for the same persona', async () => {
  const portrait = { slug: 'a', language: 'en', hue: 210 };
  for (const name of ['Vera Holm', 'สมชาย', '🌊', 'X\u0302enon', '👩🏽‍🚀', '\u0301', 'ليلى']) {
    const bytes = await drawPortrait({ ...portrait, name });
    const { width, height, format } = await sharp(bytes).metadata();
    assert.deepEqual([format, width, height], ['png', PORTRAIT_SIDE, PORTRAIT_SIDE], name);
    const { isOpaque, channels } = await sharp(bytes).stats();
    assert.ok(isOpaque && channels.some(({ stdev }) => stdev > 20), `${name}: letters are seen`);
  }
  const vera = { ...portrait, name: 'Vera Holm' };
  assert.deepEqual(await drawPortrait({ ...vera }), await drawPortrait({ ...vera }));
  for (const other of [{ hue: 20 }, { slug: 'b' }, { name: 'Ibo' }])
    assert.notDeepEqual(await drawPortrait({ ...vera, ...other }), await drawPortrait(vera));
});

test('letters are read on every paper’s colours', () => {
  for (let hue = 0; hue < 360; hue++) {
    for (const { ink, ground, shade } of [deepPalette(hue), palePalette(hue)]) {
      for (const under of [ground, shade]) {
        // WCAG 2.2, contrast (minimum), of text that may be small.
        assert.ok(contrast(ink, under) >= 4.5, `hue ${hue}: ${ink} on ${under} is ${contrast(ink, under)}`);
      }
    }
  }
});

test('a persona without a picture has a drawn one at an address that stays, until it gets its own', async (t) => {
  const clock = { now: Date.parse('2026-11-20T12:00:00Z') };
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  fileStory(deskOf(app), PAPER, filing('tide'), { by: 'cli' });
  airStory(deskOf(app), PAPER, 'tide', { by: 'cli' });
  const tree = join(folder, 'papers', PAPER);
  const read = (path: string) => readFileSync(join(tree, path), 'utf8');
  const change = async (more: object): Promise<void> => {
    clock.now += 1_000;
    const before = app.store.desk.record(PAPER, 'persona', SLUG) as object;
    record(app, 'persona', SLUG, { ...before, ...more });
    await pressPapers(app, { cards: false });
  };
  await pressPapers(app, { cards: false });

  const address = `http://localhost:4321/${PAPER}/${PATH}`;
  const first = treeOf(tree).get(PATH);
  assert.ok(first !== undefined);
  const feed = JSON.parse(read('feed.json')) as { items: { authors: { avatar: string }[] }[] };
  assert.equal(feed.items[0]?.authors[0]?.avatar, address);
  const front = JSON.parse(read('front.json')) as { newsroom: { avatar: string }[]; rails: Rail[] };
  assert.equal(front.newsroom[0]?.avatar, address);
  assert.equal(front.rails[0]?.stories[0]?.byline.avatar, address);
  for (const page of ['stories/tide/index.html', 'masthead/index.html', `masthead/${SLUG}/index.html`, 'index.html'])
    assert.ok(read(page).includes(`src="/${PAPER}/${PATH}"`), page);
  assert.match(read('stories/tide/index.html'), new RegExp(`"logo":"${address}"`));

  await change({ name: 'Mirela Quist' });
  assert.notEqual(treeOf(tree).get(PATH), first, 'another name gives other letters');
  await change({ name: 'ines calloway' });
  assert.equal(treeOf(tree).get(PATH), first);

  const picture = join(folder, 'p.png');
  await sharp({ create: { width: 64, height: 64, channels: 3, background: '#123456' } })
    .png()
    .toFile(picture);
  const media = await inspectMedia('media/p.png', picture);
  app.store.media.keepBytes(media.digest, readFileSync(picture));
  record(app, 'media', media.path, media);
  await change({ avatar: 'media/p.png' });
  assert.equal(treeOf(tree).has(PATH), false, 'nothing points at the drawn one any more');
  assert.ok(read(`masthead/${SLUG}/index.html`).includes('media/p.png'));
  assert.doesNotMatch(read('stories/tide/index.html'), /portraits\//);

  await change({ avatar: null, active: false });
  assert.equal(treeOf(tree).get(PATH), first, 'one that signs no more keeps its portrait, for its pieces show it');
  await pressPapers(app);
  assert.deepEqual((await auditApp(app)).faults, []);

  writeFileSync(join(tree, PATH), 'x');
  assert.match((await auditApp(app)).faults.join(), /portraits\/.* was altered/);
  assert.equal(statSync(join(tree, PATH)).size, 1);
});

test('a portrait is drawn once for all presses, as long as its cache exists', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  ownPictures(app.settings.dataDir);
  createPaper(app);
  const tree = join(folder, 'papers', PAPER);
  await pressPapers(app, { cards: false });
  const drawn = treeOf(tree).get(PATH);
  const { name } = app.store.desk.archive(PAPER).persona(SLUG) ?? { name: '' };
  const { hue, language } = app.store.desk.archive(PAPER).paper();
  const portrait = { slug: SLUG, name, hue, language };
  const id = portraitId(portrait, portraitCode());
  assert.notEqual(portraitId(portrait, 'other code'), id);
  const kept = join(app.settings.dataDir, 'pictures', id.slice(0, 2), id);
  writeFileSync(join(kept, 'portrait.png'), 'kept');
  await pressPapers(app, { full: true, cards: false });
  assert.equal(treeOf(tree).get(PATH), drawn, 'a damaged one is drawn again');
  writeFileSync(join(kept, 'portrait.sha256'), sha256(Buffer.from('kept')));
  await pressPapers(app, { full: true, cards: false });
  assert.equal(readFileSync(join(tree, PATH), 'utf8'), 'kept');
  assert.match((await auditApp(app)).faults.join(), /portraits\/.* does not match the ledger/);
  rmSync(join(app.settings.dataDir, 'pictures'), { recursive: true });
  await pressPapers(app, { full: true, cards: false });
  assert.equal(treeOf(tree).get(PATH), drawn);
  assert.deepEqual((await auditApp(app)).faults, []);
});

test('a row of the masthead may be sent back with its drawn portrait', () => {
  const root = 'https://news.example';
  const row = { name: 'Vera', avatar: `${root}/portraits/vera.png`, declared_ai: true, slug: 'vera' };
  assert.deepEqual(personaChange(row, 'vera', root), { name: 'Vera', avatar: null });
  const other = `${root}/portraits/ibo.png`;
  assert.equal(personaChange({ avatar: other }, 'vera', root).avatar, other, 'another’s is none of the paper’s media');
});

interface Rail {
  stories: { byline: { avatar: string } }[];
}

function record({ store, clock: { now } }: AppContext, kind: 'persona' | 'media', name: string, body: unknown): void {
  store.database.transact(() => append(store.desk, { type: 'record', at: now(), paper: PAPER, kind, name, body }));
}

/** The contrast ratio of two colours (WCAG 2.2). */
function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
