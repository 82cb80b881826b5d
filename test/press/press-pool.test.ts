import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LeaseDeadline } from '../../src/desk/jobs/press-lease.ts';
import { pressPool, type WorkerJob } from '../../src/desk/jobs/press-pool.ts';
import { pressPlan } from '../../src/desk/jobs/press-run.ts';
import { loadBuild } from '../../src/desk/press/build.ts';
import type { PrintedOutput } from '../../src/desk/press/manifest.ts';
import type { AppContext } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import { PAPER, type Scope, treeOf } from '../support/app-context.ts';
import { shared } from '../support/shared.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { paperOf } from './paper-copy.ts';

/** A job that prints the paper into a new folder. */
async function jobIn(
  app: AppContext,
  folder: string,
  name: string,
): Promise<{ job: WorkerJob; deadline: LeaseDeadline }> {
  const deadline = new LeaseDeadline();
  deadline.extend();
  const { site } = pressPlan(app, PAPER, await loadBuild());
  const tree = join(folder, name);
  mkdirSync(tree);
  const job = {
    paper: PAPER,
    site,
    folder: tree,
    scratch: join(folder, `${name}-scratch`),
    isNew: true,
    now: app.clock.now(),
    deadline: deadline.shared,
    checksDisk: true,
  };
  return { job, deadline };
}

/** A paper, and the threads for all its tests: to start them takes longer than to print. */
const opened = shared(async (t) => {
  const paper = await paperOf(t as Scope, 70);
  const pool = pressPool(paper.app.settings, 'many');
  t.after(() => pool.stop());
  return { ...paper, pool };
});

test('threads print what the thread of the press prints, and all of it', { skip: ONLY_WIDE }, async () => {
  const { app, folder, tree, pool } = opened();
  const lastChange = app.store.desk.manifest.lastChangeOfAll();
  assert.ok((await pool.takeSnapshots()).every((other) => other === lastChange));
  const { job } = await jobIn(app, folder, 'whole');
  const names = app.store.desk.manifest.outputs(PAPER).filter((name) => !name.startsWith('card'));
  const results: PrintedOutput[] = [];
  await pool.print(job, names, (result) => results.push(result));
  assert.deepEqual(results.map(({ name }) => name).sort(), [...names].sort());
  const [printed, pressed] = [treeOf(job.folder), treeOf(tree)];
  assert.deepEqual([...printed.keys()].sort(), [...pressed.keys()].sort());
  for (const [path, bytes] of pressed) assert.equal(printed.get(path), bytes, path);
  // What changed since is seen by the next press.
  app.store.desk.manifest.markStale(PAPER, ['config']);
  assert.ok((await pool.takeSnapshots()).every((other) => other > lastChange));
});

test('a press that lost its lease prints no more, and says why', async () => {
  const { app, folder, pool } = opened();
  await pool.takeSnapshots();
  const { job, deadline } = await jobIn(app, folder, 'lost');
  const names = app.store.desk.manifest.outputs(PAPER).filter((name) => name.startsWith('story/'));
  let printed = 0;
  const printing = pool.print(job, names, () => {
    if (printed++ === 0) deadline.end();
  });
  await assert.rejects(printing, (error: unknown) => error instanceof Fault && /lost its lease/.test(error.message));
  const count = treeOf(job.folder).size;
  assert.ok(printed < names.length);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(treeOf(job.folder).size, count, 'no thread writes after the failure was reported');
});

test('an error of the recorder ends the printing', async () => {
  const { app, folder, pool } = opened();
  await pool.takeSnapshots();
  const { job } = await jobIn(app, folder, 'failed');
  const names = app.store.desk.manifest.outputs(PAPER).filter((name) => name.startsWith('story/'));
  let recorded = 0;
  const record = () => {
    recorded++;
    throw new Error('the manifest is full');
  };
  await assert.rejects(pool.print(job, names, record), /the manifest is full/);
  assert.ok(recorded < names.length);
});

test('threads that cannot start, or are stopped, fail their press', { skip: ONLY_WIDE }, async () => {
  const { app, folder } = opened();
  const dataDir = join(folder, 'no-folder');
  writeFileSync(dataDir, '');
  const broken = pressPool({ ...app.settings, dataDir }, 'many');
  await assert.rejects(broken.takeSnapshots());
  await broken.stop();
  const pool = pressPool(app.settings, 'many');
  const snapshots = pool.takeSnapshots();
  const stopped = pool.stop();
  await assert.rejects(snapshots);
  await stopped;
});
