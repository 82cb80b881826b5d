import { join } from 'node:path';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { signHead } from '../../src/signing/log/log-head.ts';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import { publishLog } from '../../src/signing/log/log-publication.ts';
import { growLog } from '../support/log-leaves.ts';
import { type Bench, environmentOf } from './paper.ts';
import { aSecond, type Figure, note } from './table.ts';

const LEAVES = 100_000;
const BUDGET_RATE = 10_000;

/** Leaves from the database into a signed head, and from there onto the disk, each file synced. */
export async function headCost(bench: Bench): Promise<Figure[]> {
  note(`a head over ${LEAVES.toLocaleString('en')} leaves, signed and published`);
  const app = openAppContext(readSettings(environmentOf(join(bench.folder, 'log-heads'))));
  const key = openLogKey(app, 'records');
  growLog(app, 'records', LEAVES);
  const signing = await rateOf(() => {
    while (signHead(app, 'records', key) === 'more');
  });
  const publishing = await rateOf(() => publishLog(app, 'records', key, { isWhole: false, assertHeld() {} }));
  app.close();
  return [
    figureOf('log: leaves of the database under a new head', signing),
    figureOf('log: leaves published, each file synced', publishing),
  ];
}

/** Leaves per second. */
async function rateOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return LEAVES / ((performance.now() - start) / 1_000);
}

function figureOf(what: string, rate: number): Figure {
  const [ours, other] = [aSecond(rate), aSecond(BUDGET_RATE)];
  return { what, ours, other, ratio: rate / BUDGET_RATE, budget: other, holds: rate >= BUDGET_RATE };
}
