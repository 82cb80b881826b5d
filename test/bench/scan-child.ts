// Leases, enters and settles looks as the scanner does, round after round over all hosts, and prints on standard error how fast, and the memory held.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import Database from 'libsql';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { busyHost, busyNames } from './busy-host.ts';
import { databaseSize } from './database-size.ts';

const [hosts = '1000', rounds = '3', plain] = process.argv.slice(2);
// What is deleted then stays in the file, as SQLite does by itself.
if (plain === 'plain') {
  const { exec } = Database.prototype;
  Database.prototype.exec = function (this: Database.Database, text: string) {
    return exec.call(this, text.replace('secure_delete = FAST', 'secure_delete = OFF'));
  };
}
const HOSTS = Number(hosts);
const DAY = 86_400_000;
/** As many as a scanner's batch. */
const BATCH = 32;

/** In the last round, only serials and round trips are others. */
function stillHost(hostname: string, round: number): ReturnType<typeof busyHost> {
  if (round < Number(rounds) - 1) return busyHost(hostname, round, now);
  const probe = busyHost(hostname, round - 1, now);
  probe.signals.SOA = busyHost(hostname, round, now).signals.SOA;
  return probe;
}

function withRoundTrips(probe: ReturnType<typeof busyHost>): typeof probe {
  for (const signal of Object.values(probe.signals)) signal.rtt_ms = Math.random() * 90;
  return probe;
}

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
const cpus: number[] = [];
const sizes: number[] = [];
let [observed, changes] = [0, 0];
for (let round = 0; round < Number(rounds); round++) {
  now += 2 * DAY;
  let count = 0;
  let spent = 0;
  const before = process.cpuUsage();
  for (;;) {
    const began = performance.now();
    const taken = await queue.lease(BATCH);
    spent += performance.now() - began;
    if (taken === null) break;
    const looks = taken.hostnames.map((hostname) => withRoundTrips(stillHost(hostname, round)));
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
  const { user, system } = process.cpuUsage(before);
  cpus.push((user + system) / 1_000 / count);
  // What V8 has reserved for objects to come grows and shrinks as it likes, and is nothing that is held.
  globalThis.gc?.();
  const { rss, heapTotal, heapUsed } = process.memoryUsage();
  memory.push(rss - heapTotal + heapUsed);
  sizes.push(databaseSize(databaseFile(app.settings)));
}
app.close();
process.stderr.write(
  `${JSON.stringify({ rates, cpus, memory, sizes, observed, changes, wait: delay.percentile(99) / 1e6 })}\n`,
);
