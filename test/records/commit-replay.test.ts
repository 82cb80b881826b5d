import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditRecords } from '../../src/operate/audit/records.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { probeHostname } from '../../src/records/probe/prober.ts';
import { createResolver } from '../../src/records/probe/resolver.ts';
import { recordProbe } from '../../src/records/recording.ts';
import type { AppContext } from '../../src/server/context.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { reloadKnot, startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import {
  hostsOf,
  type Shown,
  SIGNALS,
  states,
  truthOf,
  WITHOUT_ZONES,
  type ZoneState,
  zoneFiles,
} from '../support/gov-zones.ts';
import { KEY, toolsAt } from '../support/probes.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** How many of the 585 committed states are served, from the first on: fewer on a push, and all with REPLAY_COMMITS=585. */
const COMMITS = Number(process.env.REPLAY_COMMITS ?? (ONLY_WIDE === false ? 60 : 15));
const AT_ONCE = 16;
const MINUTE = 60_000;

/** The states, as one server has them that has every zone that ever was: before and after its time a zone is empty. */
function chosen(): ZoneState[] {
  const all = [...states()].slice(0, COMMITS);
  const zones = [...new Set(all.flatMap((state) => state.zones))];
  return all.map((state) => ({ ...state, zones }));
}

test('zones served commit by commit give the deltas that really happened, and no other', {
  skip: ONLY_WIDE || WITHOUT_SERVERS || WITHOUT_ZONES,
}, async (t) => {
  const all = chosen();
  const [first] = all;
  assert.ok(first !== undefined);
  const hosts = [...new Set(all.flatMap(hostsOf))].filter((host) => host.includes('.'));
  const folder = tempFolder(t);
  const zonesAt = (state: ZoneState) => new Map(zoneFiles(state).map((zone) => [zone.name, zone]));
  let served = zonesAt(first);
  const knot = await startKnot(join(folder, 'knot'), [...served.values()]);
  t.after(knot.stop);
  const resolver = createResolver({ servers: [knot], firstWait: 5_000 });
  t.after(() => resolver.close());
  const store = openStore({ file: join(folder, 'broadsheet.db') });
  t.after(() => store.database.close());
  const { records } = store;
  let now = Date.parse(first.at);
  let leases = 0;
  let looks = 0;

  const scan = async (names: string[]): Promise<void> => {
    const id = `lease-${++leases}`;
    records.leaseNames({ id, owner: 'test', names, until: now + MINUTE });
    const left = names.values();
    const work = async () => {
      for (const name of left) {
        const look = await probeHostname(name, {
          ask: resolver.ask,
          // The addresses are real ones: nobody is called on.
          handshake: async () => ({ certificate: null, certificate_status: 'skipped' }),
          now: () => now,
          randomLabel: () => 'nobody-made-this',
        });
        assert.equal(recordProbe(records, id, look, toolsAt(now)).outcome, 'recorded', name);
        looks++;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  records.watch(hosts.map(parseHostname), now);
  await scan(hosts);
  const truths = (state: ZoneState) => new Map(hosts.map((host) => [host, truthOf(state, host)]));
  const standing = new Map([...truths(first)].map(([host, truth]) => [host, known({}, truth)]));
  const happened: string[] = [];
  for (const [index, state] of all.entries()) {
    if (index === 0) continue;
    now = Math.max(now + 1, Date.parse(state.at));
    const next = zonesAt(state);
    const changed = [...next.values()].filter(
      ({ name, lines }) => JSON.stringify(lines) !== JSON.stringify(served.get(name)?.lines),
    );
    reloadKnot(join(folder, 'knot'), changed, index + 1);
    served = next;
    const touched: string[] = [];
    for (const [host, truth] of truths(state)) {
      const before = standing.get(host) ?? {};
      const after = known(before, truth);
      standing.set(host, after);
      const signals = SIGNALS.filter((signal) => JSON.stringify(before[signal]) !== JSON.stringify(after[signal]));
      if (signals.length === 0) continue;
      touched.push(host);
      for (const signal of signals.filter((name) => before[name] !== undefined)) {
        happened.push(JSON.stringify([host, signal, before[signal], after[signal]]));
      }
    }
    await scan(touched);
    now += MINUTE;
    // What is gone is believed when it is gone twice.
    await scan(touched);
  }
  now += MINUTE;
  await scan(hosts);
  await scan(hosts);
  const said = records
    .deltas({}, { limit: 1e9 })
    .filter(({ signal }) => (SIGNALS as string[]).includes(signal))
    .map(({ domain, signal, before, after }) => JSON.stringify([domain, signal, before, after]));
  assert.deepEqual(said.sort(), happened.sort());
  const faults: string[] = [];
  auditRecords(
    { store: { ...store, desk: { ...store.desk, verifyingKeys: () => [KEY] } } } as unknown as AppContext,
    faults,
  );
  assert.deepEqual(faults, []);
  assert.ok(happened.length > COMMITS / 2);
  t.diagnostic(`${all.length} states, ${hosts.length} hosts, ${looks} looks, ${happened.length} deltas`);
});

/** What stands once the data said something: where it says nothing, what stood before. */
function known(before: Partial<Record<Shown, string[]>>, truth: Record<Shown, string[] | null>) {
  const said = Object.entries(truth).filter((entry): entry is [Shown, string[]] => entry[1] !== null);
  return { ...before, ...Object.fromEntries(said) } as Partial<Record<Shown, string[]>>;
}
