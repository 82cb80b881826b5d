import assert from 'node:assert/strict';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { deskOf } from '../../src/server/context.ts';
import { PAPER, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { DAY, publish, START } from '../support/pressed-paper.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { paperOf } from './paper-copy.ts';

/** Paths whose file is another one than before: a file that is not written again keeps its inode. */
function changedSince(before: Map<string, number>, tree: string): string[] {
  const now = inodes(tree);
  return [...now]
    .filter(([path, inode]) => before.get(path) !== inode)
    .map(([path]) => path)
    .sort();
}

function inodes(tree: string): Map<string, number> {
  return new Map([...treeOf(tree).keys()].map((path) => [path, statSync(join(tree, path)).ino]));
}

test('a publish writes the files that show it and leaves every other file alone', async (t) => {
  const { app, tree } = await paperOf(t, 61);
  // To draw the cards of all pieces takes longer than everything else.
  const cards = ONLY_WIDE === false;
  await pressPapers(app, { cards });
  const before = inodes(tree);
  publish(app, 'the-new-one', START);
  const report = (await pressPapers(app, { cards })).get(PAPER);
  const id = app.store.desk.archive(PAPER).storyBySlug('the-new-one')?.id ?? '';
  const changed = changedSince(before, tree).map((path) => path.replace(/-[0-9a-f]{16}\.png$/, '-….png'));
  assert.deepEqual(changed, [
    ...(cards ? [`cards/${id}-….png`] : []),
    'days/2026-11-20/index.html',
    'days/2026/index.html',
    'days/index.html',
    `embed/${id}/index.html`,
    'embed/the-new-one/index.html',
    'feed.json',
    'front.json',
    'index.html',
    'llms.txt',
    'masthead/ines-calloway/index.html',
    'masthead/ines-calloway/rss.xml',
    'rss.xml',
    'sections/city/3/index.html',
    'sections/city/index.html',
    'sections/city/rss.xml',
    'sitemap-news.xml',
    'sitemaps/2026-11.xml',
    'stories/the-new-one.md',
    'stories/the-new-one/index.html',
    'stories/the-new-one/proof.json',
    'subscribe/sample/index.html',
  ]);
  assert.equal(report?.written, changed.length);
});

test('a piece that is dated back moves the pages of its section and no older one', async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 61);
  const before = inodes(tree);
  publish(app, 'found-in-a-drawer', START - 25 * DAY - 1);
  await pressPapers(app, { cards: false });
  const pages = changedSince(before, tree).filter((path) => path.startsWith('sections/'));
  assert.deepEqual(pages, [
    'sections/city/2/index.html',
    'sections/city/3/index.html',
    'sections/city/index.html',
    'sections/city/rss.xml',
  ]);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('withdrawing the oldest piece moves every page of its section, and removes the last one', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 61);
  assert.ok(treeOf(tree).has('sections/city/3/index.html'));
  withdrawStory(deskOf(app), PAPER, 'piece-0', { by: 'cli', reason: 'It was never so.' });
  await pressPapers(app, { cards: false });
  assert.ok(!treeOf(tree).has('sections/city/3/index.html'));
  assert.match(treeOf(tree).get('stories/piece-0/index.html') ?? '', /It was never so\./);
  assert.ok(!treeOf(tree).has('stories/piece-0.md'));
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('many workers print the same tree as one', { skip: ONLY_WIDE }, async (t) => {
  const { folder, clock, tree } = await paperOf(t, 420);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

test('a paper that becomes private leaves no file behind, and comes back whole', async (t) => {
  const { app, tree } = await paperOf(t, 3);
  const before = treeOf(tree);
  const set = (paper_public: boolean) => {
    const body = { ...(app.store.desk.record(PAPER, 'paper', '') as object), paper_public };
    app.store.database.transact(() =>
      append(app.store.desk, { type: 'record', at: app.clock.now(), paper: PAPER, kind: 'paper', name: '', body }),
    );
  };
  set(false);
  await pressPapers(app, { cards: false });
  assert.deepEqual([...treeOf(tree).keys()], []);
  set(true);
  await pressPapers(app, { cards: false });
  assert.deepEqual([...treeOf(tree).keys()].sort(), [...before.keys()].sort());
});

test('a press without cards leaves them due, and the next one draws them once', async (t) => {
  const { app, tree } = await paperOf(t, 3);
  const cards = () => [...treeOf(tree).keys()].filter((path) => /^cards\/[0-9a-z]{26}-/.test(path));
  assert.deepEqual(cards(), []);
  await pressPapers(app);
  assert.equal(cards().length, 3);
  const before = inodes(tree);
  await pressPapers(app, { full: true });
  assert.deepEqual(changedSince(before, tree), []);
});

test('a full press repairs altered or missing files, and removes strays', async (t) => {
  const { app, tree } = await paperOf(t, 3);
  const before = treeOf(tree);
  rmSync(join(tree, 'stories/piece-1'), { recursive: true });
  writeFileSync(join(tree, 'index.html'), 'altered');
  writeFileSync(join(tree, 'stray.html'), 'nobody printed this');
  await pressPapers(app, { full: true, cards: false });
  assertSameTree(treeOf(tree), before);
});
