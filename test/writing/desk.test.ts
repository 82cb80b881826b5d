import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writingDesk } from '../../src/writing/desk.ts';
import { allProblems, openPieces } from '../../src/writing/outlook.ts';
import { outlookOf } from '../../src/writing/piece.ts';
import { tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

const FACTS = `cited_facts:
  - {statement: One, source: The Times, instrument: "https://a.example/1"}
  - {statement: Two, source: The Post, instrument: "https://b.example/2"}`;

const story = (headline: string, more = '', prose = 'It was so.[^1] It is so.[^2]'): string =>
  `---\nheadline: ${headline}\ndek: A dek\ncategory: News\nbyline: ada\n${more}${FACTS}\n---\n\n${prose}\n`;

const SVG = (side: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} 10"><path d="M0 0h9"/></svg>`;

function folderDesk(t: TestContext) {
  const folder = tempFolder(t);
  const contentDir = join(folder, 'content');
  mkdirSync(contentDir);
  const desk = writingDesk(
    { contentDir, origin: 'http://localhost:4321', dataOrigin: 'http://localhost:4322' },
    { now: () => NOW },
  );
  t.after(() => desk.close());
  let saved = NOW / 1_000 - 100_000;
  const put = (name: string, text: string) => {
    const path = join(contentDir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    saved += 10;
    utimesSync(path, saved, saved);
    return path;
  };
  const quay = () => {
    put('quay/paper.yaml', 'nameplate: The Quay\nsections: [News, Weather]\nurl: https://quay.example\n');
    put('quay/masthead/ada.yaml', 'name: Ada Quill\ntitle: Editor\nbeat: All\nbio: She writes.\n');
  };
  const headlines = () =>
    desk.store.desk
      .archive('quay')
      .latest({ limit: 100 })
      .map(({ headline }) => headline);
  const outlook = (slug: string) => {
    const piece = desk.papers.get('quay')?.pieces.get(slug);
    return piece === undefined ? null : outlookOf(piece, NOW);
  };
  const lines = () => allProblems(desk).map(({ file, line, field }) => `${file}:${line} ${field}`);
  return { folder, contentDir, desk, put, quay, headlines, outlook, lines };
}

test('the desk shows drafts, scheduled and refused pieces in every list, and says which they are', async (t) => {
  const { folder, desk, put, quay, headlines, outlook, lines } = folderDesk(t);
  quay();
  put('quay/stories/on-air.md', story('On air', 'air: 2026-11-01T00:00:00Z\n'));
  put('quay/stories/draft.md', story('A draft', 'air: false\n'));
  put('quay/stories/later.md', story('Later', 'air: 2026-12-01T00:00:00Z\n'));
  put(
    'quay/stories/refused.md',
    story('Refused', 'air: 2026-10-01T00:00:00Z\n', 'It was so.[^1] It <b>is</b> so.[^7]'),
  );
  put('quay/stories/broken.md', '---\nheadline: [\n---\n\nWords.\n');
  put('quay/stories/bare.md', 'No front matter.\n');
  assert.equal(await desk.refresh(), true);
  assert.deepEqual(headlines(), ['Later', 'bare', 'broken', 'A draft', 'On air', 'Refused']);
  assert.deepEqual(['on-air', 'draft', 'later', 'refused', 'broken', 'bare'].map(outlook), [
    'on_air',
    'draft',
    'scheduled',
    'refused',
    'refused',
    'refused',
  ]);
  assert.deepEqual(
    [...new Set(lines())].filter((line) => !/broken.md:3/.test(line)),
    ['quay/stories/bare.md:1 file', 'quay/stories/refused.md:12 prose', 'quay/stories/refused.md:9 cited_facts[1]'],
  );
  // Its portrait has an address, which no file has.
  assert.equal(desk.papers.get('quay')?.pieces.get('bare')?.filings[0]?.persona, 'nobody');
  assert.equal(desk.savedLast()?.piece.slug, 'bare');
  assert.equal(await desk.refresh(), false, 'nothing has changed');
  assert.deepEqual(readdirSync(folder), ['content'], 'nothing is written');
  const paper = desk.papers.get('quay') ?? assert.fail();
  const digests = new Map(paper.pieces.get('on-air')?.digests);
  assert.equal(
    openPieces(paper, { digests, states: new Map() }, NOW).some(({ slug }) => slug === 'on-air'),
    false,
    'filed as it is',
  );
  assert.equal(
    openPieces(paper, { digests: new Map(), states: new Map() }, NOW).find(({ slug }) => slug === 'on-air')?.filed,
    'never',
  );
});

test('a saved file is the whole piece: any way of saving it leaves no revision behind', async (t) => {
  const { contentDir, desk, put, quay, headlines, lines } = folderDesk(t);
  quay();
  const path = put('quay/stories/one.md', story('One'));
  await desk.refresh();
  put('quay/stories/.one.md.swp', 'swap');
  put('quay/stories/one.md~', 'backup');
  put('quay/stories/4913', '');
  await desk.refresh();
  assert.deepEqual([headlines(), lines()], [['One'], []]);
  const other = put('quay/stories/.one.md.new', story('Two'));
  renameSync(other, path);
  await desk.refresh();
  assert.deepEqual(headlines(), ['Two'], 'renamed over');
  writeFileSync(path, '');
  await desk.refresh();
  assert.deepEqual(lines(), ['quay/stories/one.md:1 file'], 'cut to nothing');
  put('quay/stories/one.md', story('Three'));
  await desk.refresh();
  const [row] = desk.store.desk.archive('quay').latest({ limit: 1 });
  assert.deepEqual([row?.headline, row?.revision, lines()], ['Three', 1, []]);
  put('quay/stories/one.2.md', story('Three', 'correction: It was three.\n', 'It was three.[^1] It is.[^2]'));
  await desk.refresh();
  const revised = desk.store.desk.archive('quay').storyBySlug('one');
  assert.deepEqual([revised?.revision, revised?.corrections.map(({ note }) => note)], [2, ['It was three.']]);
  rmSync(path);
  await desk.refresh();
  assert.deepEqual([headlines(), lines()], [[], ['quay/stories/one.2.md:1 slug']]);
  rmSync(join(contentDir, 'quay'), { recursive: true });
  await desk.refresh();
  assert.deepEqual([desk.papers.size, desk.store.desk.paper('quay')], [0, null]);
});

test('records apply immediately: a broken paper.yaml keeps the last good one, a removed persona is gone', async (t) => {
  const { contentDir, desk, put, quay, headlines, outlook, lines } = folderDesk(t);
  put('quay/stories/one.md', story('One'));
  await desk.refresh();
  assert.deepEqual([lines(), headlines.length], [['quay/paper.yaml:1 paper'], 0], 'no paper yet');
  quay();
  await desk.refresh();
  assert.deepEqual([headlines(), lines()], [['One'], []]);
  put('quay/paper.yaml', 'nameplate: [\n');
  put('quay/stories/two.md', story('Two'));
  await desk.refresh();
  assert.deepEqual([desk.store.desk.paper('quay')?.nameplate, headlines()], ['The Quay', ['Two', 'One']]);
  assert.equal(lines()[0]?.startsWith('quay/paper.yaml:'), true, lines().join());
  put('quay/paper.yaml', 'nameplate: The Pier\nsections: [Weather]\n');
  await desk.refresh();
  assert.equal(desk.store.desk.paper('quay')?.nameplate, 'The Pier');
  assert.deepEqual([outlook('one'), outlook('two')], ['refused', 'refused'], 'their section is gone');
  quay();
  await desk.refresh();
  assert.deepEqual(lines(), []);
  rmSync(join(contentDir, 'quay/masthead/ada.yaml'));
  await desk.refresh();
  assert.deepEqual(
    [desk.store.desk.archive('quay').masthead(), outlook('one'), headlines()],
    [[], 'refused', ['Two', 'One']],
  );
});

test('media and places on the front follow their files', async (t) => {
  const { contentDir, desk, put, quay, outlook, lines } = folderDesk(t);
  quay();
  put('quay/stories/one.md', story('One', 'image: {src: media/a.svg, alt: A line}\nplacement: {lead: true}\n'));
  put('quay/stories/two.md', story('Two'));
  await desk.refresh();
  assert.deepEqual([outlook('one'), lines()], ['refused', ['quay/stories/one.md:6 image.src']]);
  put('quay/media/a.svg', SVG(20));
  await desk.refresh();
  assert.deepEqual([lines(), desk.store.desk.archive('quay').media('media/a.svg')?.width], [[], 20]);
  put('quay/media/a.svg', SVG(30));
  await desk.refresh();
  const media = desk.store.desk.archive('quay').media('media/a.svg');
  assert.equal(media?.width, 30);
  assert.equal(existsSync(desk.mediaPath(media?.digest ?? '')), true);
  const leads = () =>
    desk.store.desk.archive('quay').storyById(desk.store.desk.archive('quay').placement().lead?.piece ?? '')?.slug;
  assert.equal(leads(), 'one');
  put('quay/stories/two.md', story('Two', 'placement: {lead: true}\n'));
  await desk.refresh();
  assert.deepEqual([leads(), lines()], ['two', ['quay/stories/one.md:1 placement']]);
  rmSync(join(contentDir, 'quay/media'), { recursive: true });
  await desk.refresh();
  assert.equal(outlook('one'), 'refused');
});

test('a save costs one file, however many the paper has', { skip: ONLY_WIDE }, async (t) => {
  const { desk, put, quay, headlines } = folderDesk(t);
  quay();
  for (let n = 0; n < 300; n++)
    put(`quay/stories/piece-${n}.md`, story(`Piece ${n}`, '', 'Words.[^1] More.[^2]\n\n'.repeat(20)));
  const timed = async () => {
    const start = performance.now();
    await desk.refresh();
    return performance.now() - start;
  };
  const all = await timed();
  assert.equal(headlines().length, 100);
  const saves: number[] = [];
  for (let n = 0; n < 5; n++) {
    put('quay/stories/piece-7.md', story(`Saved ${n}`));
    saves.push(await timed());
    assert.equal(headlines()[0], `Saved ${n}`);
  }
  assert.ok(Math.min(...saves) * 5 < all, `a save takes ${Math.min(...saves)} ms of ${all} ms for all`);
});

test('the desk follows no link, and names each', { skip: ONLY_WIDE }, async (t) => {
  const { folder, contentDir, desk, put, quay, headlines, lines } = folderDesk(t);
  quay();
  put('quay/stories/own.md', story('Its own'));
  put('quay/media/own.svg', SVG(20));
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.md'), story('Of somebody else'));
  writeFileSync(join(outside, 'secret.svg'), SVG(30));
  writeFileSync(join(outside, 'paper.yaml'), 'nameplate: X\nsections: [News]\n');
  const link = (target: string, path: string) => symlinkSync(target, join(contentDir, path));
  link(outside, 'quay/stories/out');
  link(outside, 'quay/media/out');
  link(join(outside, 'secret.svg'), 'quay/media/secret.svg');
  link('..', 'quay/stories/round');
  link(outside, 'linked');
  await desk.refresh();
  assert.deepEqual(headlines(), ['Its own']);
  assert.deepEqual(lines().sort(), [
    'linked:1 file',
    'quay/media/out:1 file',
    'quay/media/secret.svg:1 file',
    'quay/stories/out:1 file',
    'quay/stories/round:1 file',
  ]);
  assert.deepEqual(
    desk.store.desk.allMedia('quay').map(({ path }) => path),
    ['media/own.svg'],
  );
  rmSync(join(contentDir, 'quay/stories/out'));
  rmSync(join(contentDir, 'linked'));
  assert.equal(await desk.refresh(), true);
  assert.equal(lines().length, 3);
});

test('the desk has the letters of drafts for which pages need fonts', async (t) => {
  const { desk, put, quay } = folderDesk(t);
  quay();
  put('quay/stories/draft.md', story('令和', 'air: false\n'));
  await desk.refresh();
  const letters = () => desk.store.desk.archive('quay').scriptLetters();
  assert.deepEqual(letters(), [{ language: 'en', letters: '令和' }]);
  put('quay/stories/draft.md', story('平成', 'air: false\n'));
  await desk.refresh();
  assert.deepEqual(letters(), [{ language: 'en', letters: '令和平成' }]);
});
