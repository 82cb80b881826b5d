import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareWithBaseline, type DomainBaseline } from '../../src/records/delta.ts';
import { probeHostname } from '../../src/records/probe/prober.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';
import { type TrackedValues, trackedValues } from '../../src/records/tracked-values.ts';
import { tempFolder } from '../support/app-context.ts';
import { startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { hostsOf, type Shown, SIGNALS, snapshots, truthOf, WITHOUT_ZONES, zoneFiles } from '../support/gov-zones.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** How many states are served; REPLAY_STATES=34 serves all of them. */
const STATES = Number(process.env.REPLAY_STATES ?? 6);
const AT_ONCE = 16;

function shownOf(tracked: TrackedValues): TrackedValues {
  return Object.fromEntries(SIGNALS.map((signal) => [signal, tracked[signal] ?? null]));
}

/** What stands after it was said: what is not known leaves what stood. */
function standingOf(before: Record<string, string[]>, truth: Record<Shown, string[] | null>): Record<string, string[]> {
  const known = Object.entries(truth).filter((entry): entry is [string, string[]] => entry[1] !== null);
  return { ...before, ...Object.fromEntries(known) };
}

test('the zones of years, served one after the other, are seen as they were, and so is every change', {
  skip: ONLY_WIDE || WITHOUT_SERVERS || WITHOUT_ZONES,
}, async (t) => {
  const all = snapshots();
  const states = Array.from(
    { length: Math.min(STATES, all.length) },
    (_, index) => all[Math.round((index * (all.length - 1)) / Math.max(STATES - 1, 1))],
  ).filter((state) => state !== undefined);
  const hosts = [...new Set(states.flatMap(hostsOf))];
  const folder = tempFolder(t);
  const standing = new Map<string, DomainBaseline>();
  const stood = new Map<string, Record<string, string[]>>();
  let [looks, changes] = [0, 0];
  for (const [index, state] of states.entries()) {
    const knot = await startKnot(`${folder}/${index}`, zoneFiles(state));
    const resolver = createResolver({ servers: [knot], firstWait: 5_000 });
    try {
      const left = hosts.values();
      const work = async () => {
        for (const host of left) {
          const look = await probeHostname(host, {
            ask: resolver.ask,
            // The addresses are real ones: nobody is called on.
            handshake: async () => ({ certificate: null, certificate_status: 'skipped' }),
            now: () => Date.parse(state.at),
            randomLabel: () => 'nobody-made-this',
          });
          const truth = truthOf(state, host);
          const tracked = shownOf(trackedValues(look));
          assert.deepEqual(tracked, truth, `${host} on ${state.at}`);
          looks++;

          // Two looks, so that what is gone is confirmed; together they tell each change once.
          const first = compareWithBaseline(standing.get(host) ?? {}, tracked);
          const between = { ...standing.get(host), ...first.updates };
          const second = compareWithBaseline(between, tracked);
          standing.set(host, { ...between, ...second.updates });
          const before = stood.get(host) ?? {};
          const now = standingOf(before, truth);
          stood.set(host, now);
          const real = SIGNALS.filter((signal) => before[signal] !== undefined)
            .filter((signal) => JSON.stringify(before[signal]) !== JSON.stringify(now[signal]))
            .map((signal) => ({ signal, before: before[signal], after: now[signal] }));
          const told = [...first.changes, ...second.changes].map(({ signal, before, after }) => ({
            signal,
            before,
            after,
          }));
          const bySignal = (a: { signal: string }, b: { signal: string }) => (a.signal < b.signal ? -1 : 1);
          assert.deepEqual(told.sort(bySignal), real.sort(bySignal), `${host} until ${state.at}`);
          changes += told.length;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } finally {
      resolver.close();
      await knot.stop();
    }
  }
  t.diagnostic(`${states.length} states, ${hosts.length} hosts, ${looks} looks, ${changes} changes`);
  assert.ok(changes > 100);
});
