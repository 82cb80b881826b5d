import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, type Scope, tempFolder, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const DAY = 86_400_000;

/** A pressed paper with pieces that went on air at these times, each with its time's place as its slug. */
async function paperWith(t: Scope, times: string[]) {
  const clock = { now: START };
  const folder = tempFolder(t);
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  for (const [n, at] of times.entries()) publish(app, `piece-${n}`, Date.parse(at));
  await pressPapers(app, { cards: false });
  const tree = treeOf(join(folder, 'papers', PAPER));
  return { clock, folder, tree, page: (path: string) => textOf(tree.get(`${path}index.html`) ?? '') };
}

function publish(app: AppContext, slug: string, at: number): void {
  const desk = deskOf(app);
  fileStory(desk, PAPER, filing(slug), { by: 'cli' });
  airStory(desk, PAPER, slug, { by: 'cli', at });
}

/** The words of a page that a reader sees, without scripts and the receipt. */
function textOf(html: string): string {
  const seen = html.replace(/<head>.*?<\/head>|<script.*?<\/script>|<section class="proof".*?<\/section>/gs, '');
  return seen.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

test('the front of an empty paper states when the paper was created', async (t) => {
  const { page } = await paperWith(t, []);
  assert.match(page(''), /Friday, November 20, 2026 Last changed 12:00 UTC/);
  assert.doesNotMatch(page(''), /1970/);
});

test('the front states its last change, even one of a piece that it does not show', async (t) => {
  const { page } = await paperWith(t, ['2019-05-20T07:06:00Z']);
  assert.match(page(''), /Friday, November 20, 2026 Last changed 12:00 UTC/);
});

test('a piece of which only the day is known shows no time', async (t) => {
  const { page } = await paperWith(t, ['2019-05-20T00:00:00Z', '2019-05-20T07:06:00Z', '2019-05-20T00:00:00.001Z']);
  assert.match(page('stories/piece-0/'), /AI persona Editor May 20, 2019 2 sources/);
  assert.match(page('stories/piece-1/'), /May 20, 2019, 07:06 UTC/);
  assert.match(page('stories/piece-2/'), /May 20, 2019, 00:00 UTC/);
  const day = page('days/2019-05-20/');
  assert.equal(day.match(/07:06/g)?.length, 1);
  assert.equal(day.match(/00:00/g)?.length, 1);
});

test('a day in a list has its year', async (t) => {
  const { page } = await paperWith(t, ['2019-05-20T07:06:00Z', '2026-11-20T07:06:00Z']);
  for (const path of ['', 'sections/city/', 'masthead/ines-calloway/']) {
    assert.match(page(path), /AI persona May 20, 2019/, path);
    assert.match(page(path), /AI persona Nov 20, 2026/, path);
  }
});

test('a full press in another year writes the same bytes; the news sitemap alone ages', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { clock, folder, tree } = await paperWith(t, ['2019-05-20T00:00:00Z', '2026-11-20T07:06:00Z']);
  const later = await fullPress(t, folder, { now: clock.now + 400 * DAY }, false);
  for (const files of [tree, later]) assert.ok(files.delete('sitemap-news.xml'));
  assertSameTree(tree, later);
});
