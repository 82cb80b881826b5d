import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'libsql';
import type { Probe } from '../../src/proof/records/signal.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { valueSightings } from '../../src/records/value-search.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { certificate, HOUR, probe, toolsAt } from '../support/probes.ts';

const START = Date.UTC(2026, 10, 20, 12);

type Records = ReturnType<typeof openStore>['records'];

function openIn(t: TestContext, folder: string): Records {
  const store = openStore({ file: emptyDatabase(folder) });
  t.after(() => store.database.close());
  return store.records;
}

let leases = 0;

function scan(records: Records, ...looks: Probe[]): void {
  for (const taken of looks) {
    records.watch([parseHostname(taken.hostname)], taken.at);
    const id = `lease-${++leases}`;
    records.leaseNames({ id, owner: 'test', names: [taken.hostname], until: taken.at + 60_000 });
    assert.equal(recordProbe(records, id, taken, toolsAt(taken.at)).outcome, 'recorded');
  }
}

/** Each once, in the order in which they are found. */
const hostsWith = (records: Records, q: string): string[] => [
  ...new Set([...valueSightings(records, q)].map(({ sighting }) => sighting.hostname)),
];

const LOOKS = [
  probe('mail.example', START, { MX: ['10 mx1.google.com', '20 mx2.google.com'], A: ['192.0.2.1'] }, certificate('a')),
  probe('text.example', START, {
    TXT: ['v=spf1 include:_spf.google.com ip4:198.51.100.0/24 -all', 'sp\\195\\164te Worte'],
    A: ['192.0.2.10'],
    WWW_A: ['192.0.2.10'],
  }),
  probe('other.example', START, { A: ['10.192.0.2'], AAAA: ['2001:db8::7'], NS: ['ns1.xn--bcher-kva.example'] }),
  probe('issued.example', START, {}, certificate('b', 'CN=WE1, O=Google Trust Services, C=US')),
];

test('values are found by hosts within them, by words, by beginnings and by issuers', (t) => {
  const records = openIn(t, tempFolder(t));
  scan(records, ...LOOKS);
  assert.deepEqual(hostsWith(records, '192.0.2.1'), ['mail.example'], 'whole values are found at once');
  while (records.indexValues());
  for (const [q, hosts] of [
    ['mx1.google.com', ['mail.example']],
    ['MX1.google', ['mail.example']],
    ['google.com', ['mail.example', 'text.example']],
    ['_spf.google.com', ['text.example']],
    ['v=spf1', ['text.example']],
    ['spf1 -all', ['text.example']],
    ['späte', ['text.example']],
    ['192.0.2', ['mail.example', 'text.example']],
    ['192.0.2.', ['mail.example', 'text.example']],
    ['192.0.2.1', ['mail.example', 'text.example']],
    ['198.51.100.0/24', ['text.example']],
    ['ip4:198.51', ['text.example']],
    ['2001:db8:', ['other.example']],
    ['bücher.example', ['other.example']],
    ["Let's Encrypt", ['mail.example']],
    ['R11', ['mail.example']],
    ['trust services', ['issued.example']],
    ['bbbbbbbb', ['issued.example']],
    ['goo', ['mail.example', 'text.example', 'issued.example']],
    ['oogle', []],
    ['google spf1', ['text.example']],
    ['google.spf1', []],
    ['"', []],
  ] as [string, string[]][]) {
    assert.deepEqual(hostsWith(records, q).sort(), hosts.sort(), q);
  }
  records.optOut(parseHostname('text.example'), 'asked', 'test', START);
  assert.deepEqual(hostsWith(records, 'v=spf1'), []);
});

test('the whole value comes first, then whole words, then beginnings, each once; every cursor resumes the list', (t) => {
  const records = openIn(t, tempFolder(t));
  const names = Array.from({ length: 70 }, (_, n) => `h${n}.example`);
  const seen = (n: number) =>
    n % 2 === 0 ? { NS: ['a.nic.example'], WWW_A: ['192.0.2.1'] } : { NS: ['a.nic.examples'] };
  scan(records, ...names.map((name, n) => probe(name, START, { ...seen(n), TXT: [`nic.example ${'x'.repeat(70)}`] })));
  scan(records, probe('last.example', START + HOUR, { CNAME: ['nic.example'] }));
  while (records.indexValues());
  const all = [...valueSightings(records, 'nic.example')];
  assert.equal(all[0]?.sighting.hostname, 'last.example');
  assert.equal(all.length, 1 + 70 + 70);
  assert.equal(new Set(all.map(({ cursor }) => JSON.stringify(cursor))).size, all.length);
  assert.deepEqual(
    all.map(({ cursor }) => cursor.tier),
    all.map(({ cursor }) => cursor.tier).sort(),
  );
  for (const at of [0, 1, 34, 63, 64, 65, 100, 140]) {
    assert.deepEqual([...valueSightings(records, 'nic.example', all[at]?.cursor)], all.slice(at + 1), String(at));
  }
});

test('an older database is indexed in steps, alongside new values, and no value twice', (t) => {
  const folder = tempFolder(t);
  scan(openIn(t, folder), ...LOOKS);
  const db = new Database(join(folder, 'broadsheet.db'));
  db.exec(`DROP TABLE values_to_index; DROP TRIGGER sightings_to_index; DROP TABLE values_before;
    DROP TABLE searched_values; DROP TABLE value_words; DELETE FROM migrations WHERE name LIKE '063%'`);
  db.close();
  const records = openIn(t, folder);
  assert.deepEqual(hostsWith(records, 'v=spf1'), []);
  scan(records, probe('mail.example', START + HOUR, { MX: ['10 mx3.google.com'] }));
  assert.equal(records.indexValues(), true);
  assert.deepEqual(hostsWith(records, 'mx3'), ['mail.example'], 'what is new comes first');
  while (records.indexValues());
  assert.equal(records.indexValues(), false);
  assert.deepEqual(hostsWith(records, 'v=spf1'), ['text.example']);
  assert.deepEqual(hostsWith(records, 'mx'), ['mail.example']);
  assert.deepEqual(records.tableFaults(), []);
});
