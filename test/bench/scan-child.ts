// Leases, enters and settles looks as the scanner does, round after round over all hosts, and prints on standard error how fast, and the memory held.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openAppContext } from '../../src/app/context.ts';
import { localQueue } from '../../src/app/local-queue.ts';
import { readSettings } from '../../src/env.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import type { Probe } from '../../src/records/signal.ts';
import { certificate, probe } from '../support/probes.ts';

const [hosts = '1000', rounds = '3'] = process.argv.slice(2);
const HOSTS = Number(hosts);
const DAY = 86_400_000;
/** As many as a scanner's batch. */
const BATCH = 16;
/** One host in so many has another address in each round. */
const MOVING = 20;

let now = Date.UTC(2026, 10, 21);
const app = openAppContext(readSettings(), () => now);
app.openSigningKey();
const { records } = app.store;
for (let at = 0; at < HOSTS; at += 1_000) {
  const names = Array.from(
    { length: Math.min(1_000, HOSTS - at) },
    (_, n) => `h${at + n}.zone${(at + n) % 997}.example`,
  );
  records.watch(names.map(parseHostname), now);
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
    const looks = taken.hostnames.map((hostname) => seen(hostname, round));
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

/** What a busy host of our days shows. */
function seen(hostname: string, round: number): Probe {
  const number = Number(/\d+/.exec(hostname)?.[0]);
  const turn = number % MOVING === round % MOVING ? round : 0;
  const zone = hostname.replace(/^[^.]+\./, '');
  const shown = {
    A: [`192.0.2.${number % 250}`, `198.51.100.${turn}`],
    AAAA: [`2001:db8::${(number % 65_000).toString(16)}`],
    NS: [`ns1.${zone}`, `ns2.${zone}`],
    SOA: [`ns1.${zone} hostmaster.${zone} ${round + 1} 7200 3600 1209600 300`],
    MX: [`10 mx1.mail${number % 50}.example`, `20 mx2.mail${number % 50}.example`],
    TXT: ['v=spf1 include:_spf.example.com ~all', `verification=${hostname}`],
    CAA: ['0 issue "letsencrypt.org"'],
    DMARC: ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'],
    WWW_A: [`192.0.2.${number % 250}`],
    WWW_CNAME: [hostname],
  };
  return probe(hostname, now, shown, certificate((number % 16).toString(16)));
}
