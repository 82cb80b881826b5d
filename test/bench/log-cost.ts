import { join } from 'node:path';
import { airStory } from '../../src/desk/airing.ts';
import { type Desk, fileStory } from '../../src/desk/file-story.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { type LocalQueue, localQueue } from '../../src/records/jobs/local-queue.ts';
import { type AppContext, deskOf, openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { busyHost, busyNames } from './busy-host.ts';
import { type Bench, environmentOf, filedPaper, openPaper, PAPER } from './paper.ts';
import { pieceAt } from './pieces.ts';
import { type Figure, median, millis, note } from './table.ts';

// What the log costs: the same work in turns on two databases, of which one logs nothing. Only the text of a leaf,
// some 3 µs, is in both.

const BUDGET = 1.1;
const PIECES = 400;
const HOSTS = 2_000;
const LOOKS = 6;
/** As many as a scanner's batch. */
const BATCH = 16;
/** Turns before what is compiled and kept for reuse is there. */
const WARM = 20;

/** A piece filed and put on air, each in a transaction of its own. */
export function filingCost(bench: Bench): Figure {
  note('filing with and without the log');
  const [logged, bare] = ['with-log', 'without-log'].map((name) => openPaper(filedPaper(bench, 1_000, name))) as [
    AppContext,
    AppContext,
  ];
  const unlogged: Desk = {
    ...deskOf(bare),
    signingKey: deskOf(bare).signingKey,
    store: { ...bare.store, logLeaf() {} }.desk,
  };
  let slug = '';
  let turn = 0;
  const publish = (desk: Desk): number =>
    timed(() => {
      fileStory(desk, PAPER, { ...pieceAt(bench.texts.texts, turn), slug }, { by: 'cli' });
      airStory(desk, PAPER, slug, { by: 'cli' });
    });
  const times = inTurns(PIECES, (round) => {
    turn = round;
    slug = `logged-${round}`;
    return [() => publish(deskOf(logged)), () => publish(unlogged)];
  });
  requireLeaves(logged, bare, 'desk');
  return figureOf('log: a piece filed and aired, with its leaves : without', times);
}

/** Looks submitted as a scanner does, a batch in one transaction. */
export async function observingCost(bench: Bench): Promise<Figure> {
  note('observing with and without the log');
  let now = Date.UTC(2026, 10, 21);
  const open = (name: string): AppContext => {
    const app = openAppContext(readSettings(environmentOf(join(bench.folder, name))), () => now);
    app.signer.open();
    app.store.records.watch(busyNames(0, HOSTS).map(parseHostname), now);
    return app;
  };
  const [logged, bare] = [open('observed-with'), open('observed-without')];
  const records: AppContext['store']['records'] = { ...bare.store.records, logLeaf() {} };
  const queues = [localQueue(logged, 'bench'), localQueue({ ...bare, store: { ...bare.store, records } }, 'bench')];
  const times: Times = [[], []];
  for (let round = 0; round < LOOKS; round++) {
    now += 2 * 86_400_000;
    for (let batch = 0; batch < HOSTS / BATCH; batch++) {
      const order = batch % 2 === 0 ? [0, 1] : [1, 0];
      const took: [number, number] = [0, 0];
      for (const side of order) took[side as 0 | 1] = await submitted(queues[side], round, now);
      if (round * (HOSTS / BATCH) + batch < WARM) continue;
      times[0].push(took[0]);
      times[1].push(took[1]);
    }
  }
  requireLeaves(logged, bare, 'records');
  return figureOf(`log: ${BATCH} observations, with their leaves : without`, times);
}

/** The times of what logs, and of what does not, in ms. */
type Times = [logged: number[], bare: number[]];

async function submitted(queue: LocalQueue | undefined, round: number, now: number): Promise<number> {
  const taken = await queue?.lease(BATCH);
  if (queue === undefined || taken == null) throw new Error('nothing was due');
  const looks = taken.hostnames.map((hostname) => busyHost(hostname, round, now));
  const start = performance.now();
  await queue.submit(taken.lease, looks);
  return performance.now() - start;
}

/** Does both sides of each round one after the other, and changes which one is first. */
function inTurns(rounds: number, sides: (round: number) => [() => number, () => number]): Times {
  const times: Times = [[], []];
  for (let round = 0; round < WARM + rounds; round++) {
    const [logged, bare] = sides(round);
    const last = round % 2 === 0 ? null : bare();
    const took = logged();
    const other = last ?? bare();
    if (round < WARM) continue;
    times[0].push(took);
    times[1].push(other);
  }
  return times;
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** One database has its leaves, and the other one does not. */
function requireLeaves(logged: AppContext, bare: AppContext, log: 'desk' | 'records'): void {
  const [more, less] = [logged, bare].map(({ store }) => store.database.log.size(log)) as [number, number];
  for (const app of [logged, bare]) app.close();
  if (more < less + PIECES) throw new Error(`${more} leaves beside ${less}: nothing was compared`);
}

function figureOf(what: string, [logged, bare]: Times): Figure {
  const [ours, other] = [median(logged), median(bare)];
  // Of the pairs, because the machine's load changes between them.
  const ratio = median(logged.map((time, at) => time / (bare[at] ?? Number.NaN)));
  return { what, ours: millis(ours), other: millis(other), ratio, budget: `≤ ${BUDGET}`, holds: ratio <= BUDGET };
}
