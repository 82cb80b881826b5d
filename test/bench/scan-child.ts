// Leases, enters and settles looks as the scanner does, round after round over all hosts, and prints on standard error how fast, and the memory held.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { busyHost, busyNames } from './busy-host.ts';

const [hosts = '1000', rounds = '3'] = process.argv.slice(2);
const HOSTS = Number(hosts);
const DAY = 86_400_000;
/** As many as a scanner's batch. */
const BATCH = 16;

let now = Date.UTC(2026, 10, 21);
const app = openAppContext(readSettings(), () => now);
app.signer.open();
const { records } = app.store;
for (let at = 0; at < HOSTS; at += 1_000) {
  records.watch(busyNames(at, Math.min(1_000, HOSTS - at)).map(parseHostname), now);
}
const queue = localQueue(app, 'bench');

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const rates: number[] = [];
const memory: number[] = [];
let [observed, changes] = [0, 0];
for (let round = 0; round < Number(rounds); round++) {
  now += 2 * DAY;
  let count = 0;
  let spent = 0;
  for (;;) {
    const began = performance.now();
    const taken = await queue.lease(BATCH);
    spent += performance.now() - began;
    if (taken === null) break;
    const looks = taken.hostnames.map((hostname) => busyHost(hostname, round, now));
    const entering = performance.now();
    for (const { outcome, ...entered } of await queue.submit(taken.lease, looks)) {
      if (outcome !== 'recorded') throw new Error(`${entered.hostname} was ${outcome}`);
      observed++;
      if ('changes' in entered) changes += entered.changes.length;
    }
    spent += performance.now() - entering;
    count += looks.length;
  }
  rates.push(count / (spent / 1_000));
  memory.push(process.memoryUsage().rss);
}
app.close();
process.stderr.write(`${JSON.stringify({ rates, memory, observed, changes, wait: delay.percentile(99) / 1e6 })}\n`);
