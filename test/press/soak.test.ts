import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ONLY_WIDE } from '../support/wide.ts';
import { runModel } from './model/run.ts';
import { World } from './model/world.ts';

// The short form of soak.ts: a few seconds of everything at once, of two seeds, and a quiet point after each.
const OPTIONS = {
  seconds: 4,
  rounds: 1,
  cards: false,
  kills: true,
  stalls: false,
  settings: true,
  twice: true,
  known: [],
  pressed: false,
};

for (const options of [
  { ...OPTIONS, seed: 'ebb', privacy: false, archive: 12 },
  { ...OPTIONS, seed: 'flood', privacy: true, archive: 3, pressed: true },
]) {
  test(`concurrent writes, presses and kills leave every acknowledged write, and the tree of a full press (${options.seed})`, {
    skip: ONLY_WIDE,
  }, async (t) => {
    const world = await World.open(options);
    await runModel(world);
    const { failures, journal, folder, starts } = world;
    await world.close();
    t.diagnostic(`${journal.steps} steps, ${journal.looks} looks at the disk, ${starts} starts of the server`);
    const told = failures.slice(0, 5).map(({ kind, text, at }) => `(${kind}) at ${at} ms: ${text}`);
    assert.deepEqual(told, [], `see ${folder}, the journal and all that it tells of`);
    assert.ok(journal.looks > 50, 'nothing was looked at');
  });
}
