import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { hasLongProse } from '../../src/desk/press/long-prose.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { filing, PAPER, treeOf } from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { START } from '../support/pressed-paper.ts';
import { TIMES } from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { paperOf } from './paper-copy.ts';

/** Files a piece with so much prose that is slow to render, and puts it on air. */
function publishLong(app: AppContext, slug: string, length: number): void {
  const desk = deskOf(app);
  const prose = `One.[^1] Two.[^2]\n\n${`- *a* [b](c) ${'words '.repeat(14)}\n`.repeat(length / 98)}`
    .slice(0, length)
    .trim();
  fileStory(desk, PAPER, filing(slug, { prose }), { by: 'test' });
  airStory(desk, PAPER, slug, { by: 'test', at: START });
}

test('a very long piece is printed on other threads, as it would be here', { skip: ONLY_WIDE }, async (t) => {
  const { app, folder, clock, tree } = await paperOf(t, 3);
  publishLong(app, 'long', ONLY_WIDE === false ? 399_000 : 150_000);
  const [all, here] = [process.cpuUsage(), process.threadCpuUsage()];
  await pressPapers(app, { paper: PAPER, cards: false });
  const spent = ({ user, system }: NodeJS.CpuUsage) => user + system;
  const [whole, own] = [spent(process.cpuUsage(all)), spent(process.threadCpuUsage(here))];
  // Node's own threads count too; so much of it on this one would be the rendering.
  assert.ok(own < whole / 2, `this thread took ${own} of ${whole} µs`);
  assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
});

// Minutes: `.ci/wide properties` runs it.
test('when many pieces are long too, the press goes on in a larger heap', { skip: TIMES === 1 }, async (t) => {
  const { app } = await paperOf(t, 400);
  for (let n = 0; n < 60; n++) publishLong(app, `long-${n}`, 399_000);
  const report = (await pressPapers(app, { paper: PAPER, full: true, cards: false })).get(PAPER);
  assert.ok(report !== undefined && report.outputs > 800);
});

test('one long piece is heavy, and so are many that feeds show together; what left the air is not', async (t) => {
  const { app } = await paperOf(t, 3);
  const archive = app.store.desk.archive(PAPER);
  assert.equal(hasLongProse(archive, []), false);
  publishLong(app, 'long', 60_000);
  assert.equal(hasLongProse(archive, []), true);
  withdrawStory(deskOf(app), PAPER, 'long', { by: 'test', reason: 'It was long.' });
  assert.equal(hasLongProse(archive, ['story/long', 'feeds']), false);
  for (let n = 0; n < 24; n++) publishLong(app, `medium-${n}`, 40_000);
  assert.equal(hasLongProse(archive, []), false);
  for (let n = 24; n < 26; n++) publishLong(app, `medium-${n}`, 40_000);
  assert.equal(hasLongProse(archive, []), true);
});

test('a press of a whole paper yields the thread between outputs', { skip: ONLY_WIDE }, async (t) => {
  const { app, folder } = await paperOf(t, ONLY_WIDE === false ? 120 : 40);
  let longest = 0;
  let last = performance.now();
  let isPressing = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isPressing) setImmediate(turn);
  };
  const began = performance.now();
  turn();
  await pressPapers(app, { paper: PAPER, full: true, cards: false });
  isPressing = false;
  const took = performance.now() - began;
  assert.ok(longest < took / 3, `nobody else had it for ${longest} of ${took} ms in ${join(folder, 'papers')}`);
});
