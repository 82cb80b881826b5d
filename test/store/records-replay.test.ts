import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { auditRecords } from '../../src/operate/audit/records.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import type { AppContext } from '../../src/server/context.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { KEY, probe, toolsAt } from '../support/probes.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// The .gov zone, export by export: what Broadsheet says has changed must be what did change.

const ZONE = new URL('../../../shared/dns/gov-tld/', import.meta.url);
const skip = !existsSync(ZONE) && 'the zone data (../shared/dns) is not there';
/** So many of the 871 exports: half a year of real life, and a month of it on a push. */
const EXPORTS = ONLY_WIDE === false ? 80 : 14;
const TYPES = ['A', 'AAAA', 'DS', 'NS'] as const;

type Row = [name: string, ttl: number, type: string, rdata: string];
interface Export {
  at: string;
  added: Row[];
  removed: Row[];
}

const linesOf = (file: string): string[] =>
  gunzipSync(readFileSync(new URL(file, ZONE)))
    .toString()
    .trim()
    .split('\n');

/** Name and type to values. */
class Zone {
  readonly #sets = new Map<string, Set<string>>();

  add(name: string, type: string, rdata: string): void {
    const key = `${name} ${type}`;
    this.#sets.set(key, (this.#sets.get(key) ?? new Set()).add(rdata.toLowerCase().replace(/\.$/, '')));
  }

  remove(name: string, type: string, rdata: string): void {
    this.#sets.get(`${name} ${type}`)?.delete(rdata.toLowerCase().replace(/\.$/, ''));
  }

  of(name: string): Record<(typeof TYPES)[number], string[]> {
    return Object.fromEntries(
      TYPES.map((type) => [type, [...(this.#sets.get(`${name} ${type}`) ?? [])].sort()]),
    ) as Record<(typeof TYPES)[number], string[]>;
  }
}

test('months of the .gov zone, probed after each export, gives the deltas that really happened', {
  skip: ONLY_WIDE || skip,
}, (t) => {
  const exports = linesOf('deltas.jsonl.gz')
    .slice(0, EXPORTS)
    .map((line) => JSON.parse(line) as Export);
  const zone = new Zone();
  for (const line of linesOf('full-2023-12-08.zone.gz')) {
    const [name = '', , , type = '', rdata = ''] = line.split('\t');
    zone.add(name, type, rdata);
  }
  const store = openStore({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => store.database.close());
  const { records } = store;
  let now = Date.parse('2023-12-08T00:00:00Z');
  let leases = 0;
  const scan = (names: string[]): void =>
    records.transact(() => {
      const id = `lease-${++leases}`;
      const hosts = names.map((name) => parseHostname(name).hostname);
      records.leaseNames({ id, owner: 'test', names: hosts, until: now + 60_000 });
      for (const [index, hostname] of hosts.entries()) {
        const taken = probe(hostname, now, zone.of(names[index] ?? ''));
        assert.equal(recordProbe(records, id, taken, toolsAt(now)).outcome, 'recorded');
      }
    });

  const names = [...new Set(exports.flatMap(({ added, removed }) => [...added, ...removed]).map(([name]) => name))];
  records.watch(names.map(parseHostname), now);
  scan(names);
  const happened: string[] = [];
  for (const { at, added, removed } of exports) {
    now = Math.max(now + 1, Date.parse(at));
    const touched = [...new Set([...added, ...removed].map(([name]) => name))];
    const before = touched.map((name) => zone.of(name));
    for (const [name, , type, rdata] of removed) zone.remove(name, type, rdata);
    for (const [name, , type, rdata] of added) zone.add(name, type, rdata);
    scan(touched);
    now += 60_000;
    scan(touched);
    for (const [index, name] of touched.entries()) {
      const after = zone.of(name);
      for (const type of TYPES) {
        const [old, young] = [before[index]?.[type], after[type]];
        if (JSON.stringify(old) !== JSON.stringify(young)) {
          happened.push(JSON.stringify([parseHostname(name).hostname, type, old, young]));
        }
      }
    }
  }
  const said = records
    .deltas({}, { limit: 1e9 })
    .map(({ domain, signal, before, after }) => JSON.stringify([domain, signal, before, after]));
  assert(happened.length > 500);
  assert.deepEqual(said.sort(), happened.sort());
  const faults: string[] = [];
  const observations = auditRecords(
    { store: { ...store, desk: { ...store.desk, verifyingKeys: () => [KEY] } } } as unknown as AppContext,
    faults,
  );
  assert.deepEqual(faults, []);
  t.diagnostic(`${happened.length} deltas, ${observations} observations of ${names.length} names`);
});
