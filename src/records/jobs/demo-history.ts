import { randomBytes } from 'node:crypto';
import { DAY, HOUR } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { newId } from '../../shared/new-id.ts';
import { newProof } from '../accounts/owner.ts';
import { putExpectations } from '../declared-expectations.ts';
import { demoAccount } from '../demo-records.ts';
import { parseHostname } from '../hostname.ts';
import { putNote, recordCheck } from '../owners.ts';
import { probeDemo } from '../probe/demo-prober.ts';
import { DEMO_NAMES, DEMO_TOKEN, HIJACK } from '../probe/demo-zone.ts';
import { recordProbe } from '../recording.ts';

/** The length of the demonstration's invented past, in days. */
export const DEMO_DAYS = 90;
/** The interval of past probes of its hostnames, in ms. A proven owner's hostnames were probed hourly. */
const PROBED_EVERY = 2 * DAY;
/** When the account proved its name, and when it explained the takeover, in days before the first start. */
const PROVEN = 11;
const EXPLAINED = HIJACK.until - 0.2;

/** The owner's notes on the changes of the takeover. */
const EXPLANATIONS: readonly (readonly [signal: string, text: string])[] = [
  [
    'NS',
    'Not by us. Someone signed in at our registrar with a stolen password and pointed the name at servers of their own. The next hourly probe saw it and alerted us; four hours later it was ours again.',
  ],
  ['A', 'Not by us: for four hours our name led to a copy of our sign-in page. Change your password if you used it.'],
  ['MX', 'Not by us: mail of these four hours went to a foreign server. Please send it again.'],
  [
    'CERTIFICATE',
    'Issued that night to whoever held our name: they had taken our CAA record away first. It is revoked.',
  ],
];
const BACK =
  'Ours again. The registrar restored the name; the account has a second factor and the name a registry lock now.';

/** The clock by which the past is recorded, in ms. */
export interface DemoClock {
  at: number;
}

/**
 * Records the past of the demonstration in order, with the queue and rules of a real scan. `clock` is the clock of
 * `app`; it moves from one due probe to the next, up to `until`. Days of the past are counted back from `firstStart`,
 * in ms. Calls `onDay` after each day.
 */
export function recordDemoDays(
  app: AppContext,
  clock: DemoClock,
  { until, firstStart, onDay }: { until: number; firstStart: number; onDay(): void },
): void {
  const { records, database } = app.store;
  const key = app.signer.key('records');
  while (clock.at < until) {
    const end = Math.min((Math.floor(clock.at / DAY) + 1) * DAY, until);
    database.transact(() => {
      for (;;) {
        const due = records.stats(clock.at).next_due_at ?? end;
        if (due >= end) break;
        clock.at = Math.max(clock.at, due);
        const id = newId();
        const lease = { id, owner: 'demonstration', until: clock.at + HOUR, max: DEMO_NAMES.length, now: clock.at };
        for (const { hostname } of records.lease(lease)) {
          const ago = Math.max(0, (firstStart - clock.at) / DAY);
          const probe = probeDemo(hostname, clock.at, ago, Math.floor(clock.at / DAY));
          recordProbe(records, id, probe, { ...key, now: clock.at, every: PROBED_EVERY, randomBytes });
        }
      }
    });
    clock.at = end;
    onDay();
  }
}

/**
 * Records ninety days of the invented hostnames, with one incident: an owner proves a name and declares its expected
 * answers, its name servers are taken over, the takeover is observed and alerted, and the owner explains it.
 */
export function recordDemoPast(app: AppContext, clock: DemoClock, firstStart: number, onDay: () => void): void {
  const { records } = app.store;
  const to = (daysAgo: number) => recordDemoDays(app, clock, { until: firstStart - daysAgo * DAY, firstStart, onDay });
  records.watch(DEMO_NAMES.map(parseHostname), clock.at);
  to(PROVEN);
  const account = demoAccount(app);
  const { hostname } = HIJACK;
  const proof = newProof(account, parseHostname(hostname), DEMO_TOKEN, clock.at);
  records.owners.save(proof);
  const found = { txt: { outcome: 'found', detail: 'found' }, file: { outcome: 'absent', detail: 'absent' } } as const;
  recordCheck(app, proof, found, `account:${account}`);
  const host = records.find(hostname);
  const answered = host === null ? {} : records.baseline(host.id);
  putExpectations(app, account, {
    [hostname]: { NS: { values: answered.NS?.values ?? [] }, A: { values: answered.A?.values ?? [] } },
  });
  to(EXPLAINED);
  explain(app, account);
  to(0);
}

/** Adds the owner's notes to the changes of the takeover. */
function explain(app: AppContext, account: string): void {
  const { records } = app.store;
  const host = records.find(HIJACK.hostname);
  if (host === null) return;
  const explained = new Set<string>();
  for (const { seq, signal } of records.deltas(
    { host: host.id, since: app.clock.now() - DAY },
    { limit: 50, order: 'oldest' },
  )) {
    const text = EXPLANATIONS.find(([of]) => of === signal)?.[1];
    if (text === undefined) continue;
    // The second change of a type is the change back.
    putNote(app, account, seq, explained.has(signal) ? BACK : text);
    explained.add(signal);
  }
}
