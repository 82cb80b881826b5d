import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { fullRecordOf } from '../../src/proof/records/preview.ts';
import type { Probe } from '../../src/proof/records/signal.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { type Recorded, recordProbe } from '../../src/records/recording.ts';
import { changeLine, deltaRow, historyRow, provenanceRow, tapeRow } from '../../src/records/wire-rows.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { certificate, HOUR, KEY, probe, toolsAt } from '../support/probes.ts';
import { recordFaults } from '../support/records-faults.ts';

const START = Date.UTC(2026, 10, 20, 12);

function recordsIn(t: TestContext) {
  const store = openStore({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => store.database.close());
  return store.records;
}

type Records = ReturnType<typeof recordsIn>;

let leases = 0;

/** Looks at a host now, whether it is due or not. */
function scan(records: Records, taken: Probe, now = taken.at): Recorded {
  const id = `lease-${++leases}`;
  records.leaseNames({ id, owner: 'test', names: [taken.hostname], until: now + 60_000 });
  return recordProbe(records, id, taken, toolsAt(now));
}

function watch(records: Records, ...names: string[]): void {
  records.watch(names.map(parseHostname), START);
}

const idOf = (records: Records, hostname: string): number => records.find(hostname)?.id ?? -1;

test('an observation comes back as it was signed, and so does every one before it', (t) => {
  const records = recordsIn(t);
  watch(records, 'example.test');
  const looks = [
    probe('example.test', START, { A: ['192.0.2.1'], NS: ['ns1.example.test', 'ns2.example.test'] }, certificate('a')),
    probe('example.test', START + HOUR, { A: 'timeout', NS: ['ns1.example.test', 'ns2.example.test'] }),
    probe('example.test', START + 2 * HOUR, { A: ['192.0.2.2'], TXT: ['"späße ✓"'] }, certificate('b')),
  ];
  for (const taken of looks) assert.equal(scan(records, taken).outcome, 'recorded');
  const host = idOf(records, 'example.test');
  for (const [index, taken] of looks.entries()) {
    for (const at of [taken.at, taken.at + HOUR - 1]) {
      const found = records.observation(host, at);
      assert(found !== null);
      assert.equal(found.seq, index + 1);
      const full = fullRecordOf(found);
      assert.equal(full.observed_at, new Date(taken.at).toISOString());
      assert.deepEqual(full.signals.A?.values, taken.signals.A.values);
      assert.deepEqual(full.signals.TXT?.values, taken.signals.TXT.values);
      assert.deepEqual(full.certificate, taken.certificate);
      assert.deepEqual(recordFaults(full, [KEY], verifyNode), []);
    }
  }
  assert.equal(records.observation(host, START - 1), null);
  assert.deepEqual(
    records.provenance(host, 2).map(({ seq }) => seq),
    [3, 2],
  );
  assert.deepEqual(
    records.provenance(host, 2, 2).map(({ seq }) => seq),
    [1],
  );
  assert.equal(records.observationCount(host), 3);
});

test('changes become deltas, a removal only when it is seen twice, and unknown never', (t) => {
  const records = recordsIn(t);
  watch(records, 'example.test');
  const at = (hours: number) => START + hours * HOUR;
  const says = (hours: number, seen: Parameters<typeof probe>[2]) => {
    const recorded = scan(records, probe('example.test', at(hours), seen));
    assert(recorded.outcome === 'recorded');
    return recorded.deltas.map(changeLine);
  };
  assert.deepEqual(says(0, { A: ['192.0.2.1'], MX: ['10 mx.example.test'] }), []);
  assert.deepEqual(says(1, { A: ['192.0.2.2'], MX: ['10 mx.example.test'] }), [
    'example.test A changed: 192.0.2.1 → 192.0.2.2',
  ]);
  assert.deepEqual(says(2, { A: ['192.0.2.2'], MX: 'servfail' }), []);
  assert.deepEqual(says(3, { A: ['192.0.2.2'] }), []);
  assert.equal(records.find('example.test')?.due_at, at(3) + 5 * 60_000, 'it is looked at again soon');
  assert.deepEqual(says(4, { A: ['192.0.2.2'], MX: 'timeout' }), []);
  assert.deepEqual(says(5, { A: ['192.0.2.2'], TXT: ['"v=spf1 -all"'] }), [
    'example.test MX removed: 10 mx.example.test',
    'example.test TXT added: "v=spf1 -all"',
  ]);
  const deltas = records.deltas({}, { limit: 10, order: 'oldest' });
  assert.deepEqual(
    deltas.map(({ seq, signal, observation_seq, at: entered }) => [seq, signal, observation_seq, entered]),
    [
      [1, 'A', 2, at(1)],
      [2, 'MX', 6, at(5)],
      [3, 'TXT', 6, at(5)],
    ],
  );
});

test('history keeps when each value was seen first and last, and how often', (t) => {
  const records = recordsIn(t);
  watch(records, 'example.test');
  const seen = [['192.0.2.1'], ['192.0.2.1', '192.0.2.2'], ['192.0.2.2'], 'timeout', ['192.0.2.1']] as const;
  for (const [index, values] of seen.entries()) {
    const A = typeof values === 'string' ? values : [...values];
    scan(records, probe('example.test', START + index * HOUR, { A }));
  }
  const host = idOf(records, 'example.test');
  const row = (value: string, first: number, last: number, count: number) => ({
    signal: 'A',
    value,
    first_seen: START + first * HOUR,
    last_seen: START + last * HOUR,
    count,
  });
  const both = [row('192.0.2.1', 0, 4, 3), row('192.0.2.2', 1, 2, 2)];
  assert.deepEqual(records.history(host, {}, 10), both);
  assert.deepEqual(records.history(host, { signal: 'A', until: START + HOUR }, 10), [both[0]]);
  assert.deepEqual(records.history(host, { since: START + 3 * HOUR }, 10), [both[0]]);
  assert.deepEqual(records.history(host, { signal: 'MX' }, 10), []);
  assert.deepEqual(records.history(host, {}, 10, { signal: 'A', value: '192.0.2.1' }), [both[1]]);
  assert.equal(records.historyCount(host, {}), 2);
  assert.deepEqual(
    records.sightingsOf('192.0.2.2', { host: 0, signal: '' }, 9).map(({ hostname }) => hostname),
    ['example.test'],
  );
});

test('a clock that goes back makes no observation and no delta out of order', (t) => {
  const records = recordsIn(t);
  watch(records, 'example.test');
  scan(records, probe('example.test', START + 10 * HOUR, { A: ['192.0.2.1'] }));
  scan(records, probe('example.test', START + 10 * HOUR, { A: ['192.0.2.2'] }));
  scan(records, probe('example.test', START, { A: ['192.0.2.3'] }));
  // A scanner whose clock runs ahead is not believed beyond the present.
  scan(records, probe('example.test', START + 99 * HOUR, { A: ['192.0.2.4'] }), START + HOUR);
  const host = idOf(records, 'example.test');
  const times = [...records.observationsOf(host)].map(({ record }) => Date.parse(record.observed_at));
  assert.deepEqual(
    times,
    [10, 10, 10, 10].map((hours) => START + hours * HOUR),
  );
  const deltas = records.deltas({}, { limit: 9, order: 'oldest' });
  assert.deepEqual(
    deltas.map(({ at }) => at),
    [10, 10, 10].map((hours) => START + hours * HOUR),
  );
});

test('an opt-out hides a name and everything below it immediately, keeps the receipts, and is permanent', (t) => {
  const records = recordsIn(t);
  const names = ['example.test', 'www.example.test', 'notexample.test', 'example.test.org'];
  watch(records, ...names);
  for (const name of names) {
    scan(records, probe(name, START, { A: ['192.0.2.1'], MX: ['10 aspmx.l.google.com'] }, certificate('a')));
    scan(records, probe(name, START + HOUR, { A: ['192.0.2.2'], MX: ['10 aspmx.l.google.com'] }, certificate('a')));
  }
  assert.equal(records.deltaCount({}), 4);
  assert.equal(records.facetCount({ kind: 'service', name: 'mail:Google Workspace' }), 4);
  const [lease] = records.leaseNames({ id: 'held', owner: 'a', names: ['www.example.test'], until: START + 9 * HOUR });
  assert.equal(lease?.hostname, 'www.example.test');

  const hidden = records.optOut(parseHostname('Example.test'), 'asked by its owner', 'cli', START + 2 * HOUR);
  assert.deepEqual(hidden, ['example.test', 'www.example.test']);
  assert.deepEqual(records.optOut(parseHostname('example.test'), 'again', 'cli', START), []);

  const shown = ['example.test.org', 'notexample.test'];
  const listed = (items: { hostname: string }[]) => items.map(({ hostname }) => hostname).sort();
  assert.deepEqual(listed(records.list('', 9)), shown);
  assert.deepEqual(listed(records.search('exam', 9)), ['example.test.org']);
  assert.deepEqual(listed(records.sightingsOf('192.0.2.1', { host: 0, signal: '' }, 9)), shown);
  assert.deepEqual(
    records
      .deltas({}, { limit: 9 })
      .map(({ domain }) => domain)
      .sort(),
    shown,
  );
  assert.deepEqual(records.deltas({ host: idOf(records, 'example.test') }, { limit: 9 }), []);
  assert.deepEqual(records.deltas({ signal: 'A' }, { limit: 9, order: 'oldest' }).length, 2);
  assert.equal(records.deltaCount({}), 2);
  assert.equal(records.deltaCount({ signal: 'A', since: START, until: START + 2 * HOUR }), 2);
  assert.equal(records.facetCount({ kind: 'service', name: 'mail:Google Workspace' }), 2);
  assert.deepEqual(records.changesByDay('2026-11-20', '2026-11-21'), [
    { day: '2026-11-20', signal: 'A', kind: 'changed', count: 2 },
  ]);
  assert.deepEqual(records.counts(), { watched: 2, paused: 0, opted_out: 2 });

  // The look that was under way is dropped, and nobody may put them back under watch.
  const late = probe('www.example.test', START + 3 * HOUR, { A: ['192.0.2.9'] });
  assert.deepEqual(recordProbe(records, 'held', late, toolsAt(START + 3 * HOUR)), { outcome: 'lost' });
  const again = records.watch(['example.test', 'new.www.example.test'].map(parseHostname), START);
  assert.deepEqual(
    again.map(({ outcome }) => outcome),
    ['opted_out', 'opted_out'],
  );
  assert.equal(records.optOutOf('deep.www.example.test')?.reason, 'asked by its owner');
  assert.equal(records.optOutOf('notexample.test'), null);
  const host = records.find('www.example.test');
  assert.equal(host?.state, 'opted_out');
  assert.equal(records.provenance(host?.id ?? -1, 9).length, 2, 'the receipts stay');
  assert.throws(() => records.optOut(parseHostname('co.uk'), '', 'cli', START), /co\.uk is a public suffix/);
});

test('a paused hostname is not due, and resumes where it stopped', (t) => {
  const records = recordsIn(t);
  watch(records, 'example.test');
  const lease = (id: string) => records.lease({ id, owner: 'a', max: 9, until: START + HOUR, now: START });
  assert.equal(records.pause('example.test'), true);
  assert.equal(records.pause('example.test'), false);
  assert.deepEqual(lease('one'), []);
  assert.equal(records.list('', 9).length, 1, 'it is still shown');
  assert.deepEqual(records.watch([parseHostname('example.test')], START), [
    { hostname: 'example.test', outcome: 'resumed' },
  ]);
  assert.equal(lease('two').length, 1);
});

test('facets follow the current state of a host', (t) => {
  const records = recordsIn(t);
  watch(records, 'a.test', 'b.test');
  scan(
    records,
    probe('a.test', START, { NS: ['amy.ns.cloudflare.com'], TXT: ['"google-site-verification=x"'] }, certificate('a')),
  );
  scan(records, probe('b.test', START, { NS: ['bob.ns.cloudflare.com'] }));
  assert.deepEqual(records.topFacets('service', 9), [
    { name: 'dns:Cloudflare DNS', count: 2 },
    { name: 'verification:Google', count: 1 },
  ]);
  assert.deepEqual(records.topFacets('service', 1, { name: 'dns:Cloudflare DNS', count: 2 }), [
    { name: 'verification:Google', count: 1 },
  ]);
  assert.equal(records.facetNames('service'), 2);
  assert.deepEqual(records.topFacets('issuer', 9), [{ name: "Let's Encrypt", count: 1 }]);
  assert.deepEqual(records.facetRange('expiry', '2027-01-01', '2027-02-01'), [{ name: '2027-01-30', count: 1 }]);
  const withDns = { kind: 'service', name: 'dns:Cloudflare DNS' } as const;
  assert.deepEqual(records.hostsWithFacet(withDns, '', 9), ['a.test', 'b.test']);
  assert.deepEqual(records.hostsWithFacet(withDns, 'a.test', 9), ['b.test']);
  scan(records, probe('b.test', START + HOUR, { NS: ['ns-1.awsdns-01.org'] }));
  assert.deepEqual(records.topFacets('nameserver', 9), [
    { name: 'awsdns-01.org', count: 1 },
    { name: 'cloudflare.com', count: 1 },
  ]);
});

test('days are counted: of facets as they change, of hosts by their changes, with a clock set back too', (t) => {
  const records = recordsIn(t);
  const DAY = 24 * HOUR;
  const ns = (name: string, at: number, host: string) => probe(name, at, { NS: [`x.ns.${host}`] });
  assert.equal(records.facetDaysStart(), null);
  watch(records, 'a.test', 'b.test');
  scan(records, ns('a.test', START, 'cloudflare.com'));
  assert.equal(records.facetDaysStart(), '2026-11-20');
  scan(records, ns('b.test', START + DAY, 'cloudflare.com'));
  // The removal of a name server counts when it is seen twice; a clock that was set back counts on the latest day.
  for (const at of [3 * DAY, 3 * DAY + HOUR, 2 * DAY]) scan(records, ns('b.test', START + at, 'awsdns-01.org'));
  const days = (since: string) =>
    records.facetDays('nameserver', ['cloudflare.com', 'awsdns-01.org', 'none.test'], since);
  const row = (name: string, day: string, count: number) => ({ name, day: `2026-11-${day}`, count });
  const cloudflare = [row('cloudflare.com', '20', 1), row('cloudflare.com', '21', 2), row('cloudflare.com', '23', 1)];
  const aws = [row('awsdns-01.org', '23', 1)];
  assert.deepEqual(days('2026-11-20'), [...cloudflare, ...aws]);
  assert.deepEqual(
    days('2026-11-22'),
    [...cloudflare.slice(1), ...aws],
    'the count before the first day is among them',
  );
  const { optOut, hostDays, lastChanges } = records;
  assert.deepEqual(
    hostDays(['b.test', 'a.test', 'none.test'], '2026-11-01').map(({ domain, day }) => `${domain} ${day}`),
    ['b.test 2026-11-23'],
  );
  assert.deepEqual(
    lastChanges(['a.test', 'b.test']).map(({ domain, signal, kind }) => ({ domain, signal, kind })),
    [{ domain: 'b.test', signal: 'NS', kind: 'changed' }],
  );
  optOut(parseHostname('a.test'), 'asked', 'cli', START + 9 * DAY);
  assert.deepEqual(days('2026-11-29').at(0), row('cloudflare.com', '29', 0));
  assert.deepEqual(records.tableFaults(), []);
  records.capTimes(START + 4 * DAY);
  assert.deepEqual(days('2026-11-24').at(0), row('cloudflare.com', '24', 0));
  assert.deepEqual(records.tableFaults(), []);
});

test('changes are filtered by kind, by signal, by a name and those below it, and counted alike', (t) => {
  const records = recordsIn(t);
  watch(records, 'a.test', 'www.a.test', 'xa.test', 'a-b.test');
  for (const [n, name] of ['a.test', 'www.a.test', 'xa.test', 'a-b.test'].entries()) {
    scan(records, probe(name, START + n, { A: ['192.0.2.1'] }));
    scan(records, probe(name, START + HOUR + n, { A: ['192.0.2.2'], TXT: ['"x"'] }));
  }
  const found = (query: Parameters<Records['deltas']>[0]) => {
    const rows = records.deltas(query, { limit: 99 });
    assert.equal(records.deltaCount(query), rows.length, JSON.stringify(query));
    assert.deepEqual(rows, records.deltas(query, { limit: 99, order: 'oldest' }).toReversed());
    return rows.map(({ domain, signal, kind }) => `${domain} ${signal} ${kind}`);
  };
  assert.equal(found({}).length, 8);
  assert.deepEqual(new Set(found({ kind: 'added' }).map((row) => row.split(' ')[1])), new Set(['TXT']));
  assert.equal(found({ kind: 'added', signal: 'TXT' }).length, 4);
  assert.equal(found({ kind: 'added', signal: 'A' }).length, 0);
  assert.deepEqual(found({ below: 'test.a' }), [
    'www.a.test TXT added',
    'www.a.test A changed',
    'a.test TXT added',
    'a.test A changed',
  ]);
  assert.deepEqual(found({ below: 'test.a', kind: 'changed', since: START + HOUR + 1 }), ['www.a.test A changed']);
  assert.deepEqual(found({ below: 'test.a.www', signal: 'TXT' }), ['www.a.test TXT added']);
  records.optOut(parseHostname('a.test'), 'asked', 'cli', START + 2 * HOUR);
  assert.deepEqual(found({ below: 'test.a' }), []);
  assert.equal(found({ kind: 'added' }).length, 2);
});

test('hostnames are found by the beginnings of their labels, in Unicode or not, and by nothing else', (t) => {
  const records = recordsIn(t);
  watch(records, 'www.münchen-stadt.example', 'mail.example.org', 'examples.test');
  const found = (words: string) =>
    records
      .search(words, 9)
      .map(({ unicode }) => unicode)
      .sort();
  assert.deepEqual(found('münch'), ['www.münchen-stadt.example']);
  assert.deepEqual(found('MUNCHEN-stadt'), ['www.münchen-stadt.example']);
  assert.deepEqual(found('xn--mnchen'), ['www.münchen-stadt.example']);
  assert.deepEqual(found('mail.example'), ['mail.example.org']);
  assert.deepEqual(found('example'), ['examples.test', 'mail.example.org', 'www.münchen-stadt.example']);
  assert.deepEqual(found('ample'), []);
  for (const words of ['', ' ', '"', '*', '" OR "', 'labels:mail', 'NOT', 'a" OR b', '^mail', '()', '-', "'"]) {
    assert(found(words).length <= 3, words);
  }
});

test('watched names have distinct outcomes: new, already watched, paused, opted out', (t) => {
  const records = recordsIn(t);
  const outcomes = (...names: string[]) => records.watch(names.map(parseHostname), START).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes('a.test', 'b.test', 'a.test'), ['added', 'added', 'already']);
  records.pause('b.test');
  records.optOut(parseHostname('c.test'), 'asked', 'cli', START);
  assert.deepEqual(outcomes('a.test', 'b.test', 'c.test', 'x.c.test'), [
    'already',
    'resumed',
    'opted_out',
    'opted_out',
  ]);
  assert.deepEqual(records.counts(), { watched: 2, paused: 0, opted_out: 0 });
  assert.equal(records.find('c.test'), null, 'a name that opted out before it was watched leaves no row');
  assert.equal(records.lastProbeAt(), null);
  scan(records, probe('a.test', START + HOUR, {}));
  assert.equal(records.lastProbeAt(), START + HOUR);
});

test('rows for readers carry what the tables hold, with times as texts', (t) => {
  const records = recordsIn(t);
  watch(records, 'a.test');
  scan(records, probe('a.test', START, { A: ['192.0.2.1'] }));
  scan(records, probe('a.test', START + HOUR, { A: ['192.0.2.2'] }));
  const [delta] = records.deltas({}, { limit: 1 });
  assert(delta !== undefined);
  const at = '2026-11-20T13:00:00.000Z';
  const row = { seq: 1, at, domain: 'a.test', signal: 'A', kind: 'changed' };
  const [before, after] = [['192.0.2.1'], ['192.0.2.2']];
  assert.deepEqual(deltaRow(delta), { ...row, before, after, observation_seq: 2 });
  assert.deepEqual(tapeRow(delta), { ...row, line: 'a.test A changed: 192.0.2.1 → 192.0.2.2' });
  const host = idOf(records, 'a.test');
  const [newest] = records.provenance(host, 1);
  assert(newest !== undefined);
  const { record_root, ...rest } = provenanceRow(newest, null);
  assert.deepEqual(rest, { seq: 2, observed_at: at, receipt: newest.receipt, log: null });
  assert(newest.receipt.includes(`\nrecord_root ${record_root}\n`));
  assert.deepEqual(records.history(host, {}, 9).map(historyRow)[1], {
    signal: 'A',
    value: '192.0.2.2',
    first_seen: at,
    last_seen: at,
    count: 1,
  });
});
