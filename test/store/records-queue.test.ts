import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditRecords } from '../../src/operate/audit/records.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import type { AppContext } from '../../src/server/context.ts';
import { openStore } from '../../src/store/store.ts';
import { type Scope, tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { HOUR, KEY, probe, toolsAt } from '../support/probes.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const START = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;

function storeIn(t: Scope, folder = tempFolder(t)) {
  const store = openStore({ file: emptyDatabase(folder) });
  t.after(() => store.database.close());
  return store;
}

type Store = ReturnType<typeof storeIn>;

function watch({ records }: Store, names: string[]): void {
  records.watch(names.map(parseHostname), START);
}

/** An audit under the key of the tests, which no ledger entry names. */
function faultsOf(store: Store): string[] {
  const faults: string[] = [];
  auditRecords(
    { store: { ...store, desk: { ...store.desk, verifyingKeys: () => [KEY] } } } as unknown as AppContext,
    faults,
  );
  return faults;
}

const names = (rows: { hostname: string }[]): string[] => rows.map(({ hostname }) => hostname).sort();

test('a leased hostname is leased to nobody else until the lease ends', (t) => {
  const store = storeIn(t);
  const { records } = store;
  watch(store, ['a.test', 'b.test', 'c.test']);
  const lease = (id: string, now: number, max: number) =>
    names(records.lease({ id, owner: 'x', max, until: now + MINUTE, now }));
  const first = lease('one', START, 2);
  assert.equal(first.length, 2);
  assert.deepEqual(
    names(records.list('', 9)).filter((name) => !first.includes(name)),
    lease('two', START, 9),
  );
  assert.deepEqual(lease('three', START + MINUTE - 1, 9), []);
  assert.deepEqual(records.stats(START + 1), { watched: 3, due: 0, leased: 3, next_due_at: START + MINUTE });
  // The holder of the first lease has died: its hosts are due again.
  assert.equal(lease('four', START + MINUTE, 9).length, 3);
});

test('a probe is entered under a living lease only, and once', (t) => {
  const store = storeIn(t);
  const { records } = store;
  watch(store, ['a.test', 'b.test']);
  const lease = (id: string, now: number) => records.lease({ id, owner: 'x', max: 9, until: now + MINUTE, now });
  const enter = (id: string, hostname: string, now: number) =>
    recordProbe(records, id, probe(hostname, now, { A: ['192.0.2.1'] }), toolsAt(now)).outcome;
  lease('one', START);
  assert.equal(enter('one', 'a.test', START + 1), 'recorded');
  assert.equal(enter('one', 'a.test', START + 1), 'lost', 'the same result sent again');
  assert.equal(enter('one', 'c.test', START + 1), 'lost', 'a host that was not leased');
  assert.equal(enter('none', 'b.test', START + 1), 'lost', 'a lease that never was');
  // Late, but nobody has taken it since: the work is not thrown away.
  assert.equal(enter('one', 'b.test', START + 2 * MINUTE), 'recorded');
  lease('two', START + 48 * HOUR);
  lease('three', START + 48 * HOUR + MINUTE);
  assert.equal(enter('two', 'a.test', START + 48 * HOUR + MINUTE), 'lost', 'taken by another since');
  assert.equal(enter('three', 'a.test', START + 48 * HOUR + MINUTE), 'recorded');
  assert.equal(records.observationTotals().count, 3);
  assert.deepEqual(faultsOf(store), []);
});

test('a released lease makes its hosts due immediately', (t) => {
  const store = storeIn(t);
  const { records } = store;
  watch(store, ['a.test', 'b.test']);
  const lease = (id: string) => records.lease({ id, owner: 'x', max: 9, until: START + HOUR, now: START }).length;
  assert.equal(lease('one'), 2);
  recordProbe(records, 'one', probe('a.test', START, { A: ['192.0.2.1'] }), toolsAt(START));
  assert.equal(records.release('one', START), 1);
  assert.equal(lease('two'), 1);
});

test('one operator with many hosts does not keep the others waiting', (t) => {
  const store = storeIn(t);
  const { records } = store;
  watch(
    store,
    Array.from({ length: 50 }, (_, n) => `h${n}.big.test`),
  );
  watch(store, ['one.small.test', 'two.small.test', 'other.test']);
  const leased = names(records.lease({ id: 'one', owner: 'x', max: 8, until: START + HOUR, now: START }));
  assert.equal(leased.length, 8);
  assert(leased.includes('one.small.test') && leased.includes('two.small.test') && leased.includes('other.test'));
  // Nor do the others keep the many from being looked at, when there is nobody else.
  assert.equal(records.lease({ id: 'two', owner: 'x', max: 20, until: START + HOUR, now: START }).length, 20);
});

test('a host is due again when its outcome says so', (t) => {
  const store = storeIn(t);
  const { records } = store;
  watch(store, ['a.test']);
  const step = (id: string, now: number, A: string[] | 'timeout' | 'nodata') => {
    records.leaseNames({ id, owner: 'x', names: ['a.test'], until: now + MINUTE });
    const taken = probe('a.test', now, A === 'timeout' ? {} : { A });
    if (A === 'timeout') {
      for (const signal of Object.values(taken.signals)) signal.status = 'timeout';
      taken.certificate_status = 'timeout';
    }
    recordProbe(records, id, taken, toolsAt(now, { randomBytes: (length) => new Uint8Array(length).fill(128) }));
    return (records.find('a.test')?.due_at ?? 0) - now;
  };
  assert.equal(step('1', START, ['192.0.2.1']), 24 * HOUR);
  assert.equal(step('2', START + HOUR, 'nodata'), 5 * MINUTE);
  assert.equal(step('3', START + 2 * HOUR, 'nodata'), 24 * HOUR);
  assert.equal(step('4', START + 3 * HOUR, 'timeout'), 10 * MINUTE);
  assert.equal(step('5', START + 4 * HOUR, 'timeout'), 20 * MINUTE);
  assert.equal(records.find('a.test')?.failures, 2);
  assert.equal(step('6', START + 5 * HOUR, ['192.0.2.1']), 24 * HOUR);
  assert.equal(records.find('a.test')?.failures, 0);
});

test('scanners in several processes probe every host once, also when one of them is killed', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const store = storeIn(t, folder);
  const { records } = store;
  watch(
    store,
    Array.from({ length: 400 }, (_, n) => `h${n}.zone${n % 20}.test`),
  );
  const scanner = new URL('./scanner-child.ts', import.meta.url);
  const scanners = [1, 2, 3].map((n) =>
    fork(scanner, [join(folder, 'broadsheet.db'), `scanner-${n}`], { silent: true }),
  );
  for (const child of scanners) t.after(() => child.kill('SIGKILL'));
  const ended = scanners.map((child) => once(child, 'exit') as Promise<[number | null, string | null]>);
  // Each says when it holds a lease; the first then dies with it.
  await once(scanners[0] as (typeof scanners)[0], 'message');
  scanners[0]?.kill('SIGKILL');
  const exits = await Promise.all(ended);
  assert.deepEqual(exits.slice(1), [
    [0, null],
    [0, null],
  ]);
  assert.deepEqual(records.observationTotals(), { count: 400, newest: 400 });
  for (const { id, hostname } of records.everyHost()) assert.equal(records.observationCount(id), 1, hostname);
  assert.deepEqual(faultsOf(store), []);
});
