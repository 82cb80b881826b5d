import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import canonicalize from 'canonicalize';
import Database from 'libsql';
import { observe } from '../../src/proof/records/observation.ts';
import type { DomainRecord } from '../../src/proof/records/record.ts';
import { KNOWN_STATUSES, type Probe, SIGNAL_TYPES, UNKNOWN_STATUSES } from '../../src/proof/records/signal.ts';
import { patched, patchOf } from '../../src/records/body-patch.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { partsOf, recordOf } from '../../src/records/record.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { QUERY_VIEWS } from '../../src/store/records/query-views.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { certificate, HOUR, probe, toolsAt } from '../support/probes.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const START = Date.UTC(2026, 10, 20, 12);
const NAME = 'bücher.example.com';
const HOST = parseHostname(NAME);

function opened(t: TestContext, names = [NAME]) {
  const folder = tempFolder(t);
  const file = join(folder, 'var/broadsheet.db');
  const app = appContextIn(t, folder, { now: START });
  const { records } = app.store;
  records.watch(names.map(parseHostname), START);
  const host = records.find(HOST.hostname)?.id ?? 0;
  const count = (table: string) => {
    const db = new Database(file, { readonly: true });
    const { n } = db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number };
    db.close();
    return n;
  };
  return { file, records, host, count };
}

/** Fragments that diffs stumble over: quotation marks, escapes, halves of the same letter, characters of two units. */
const FRAGMENTS = ['"', '\\', ',"signals.A":', '{', '}', '[', ']', 'é', 'e\u0301', '𝔘', '😀', '😁', '\u202e', '\u2028'];
const words = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS, 'a', 'b', '1', '2'), fc.string({ unit: 'binary', maxLength: 3 })), {
    maxLength: 12,
  })
  .map((parts) => parts.join('').replaceAll('\0', '\\000'));
const signal = fc.record({
  status: fc.constantFrom(...KNOWN_STATUSES, ...UNKNOWN_STATUSES),
  ttl: fc.option(fc.constantFrom(0, 300, 2 ** 31 - 1)),
  values: fc.uniqueArray(words, { maxLength: 3 }),
  transport: fc.constantFrom('udp' as const, 'tcp' as const, null),
  rtt_ms: fc.option(fc.nat(600_000)),
  flags: fc.record({ aa: fc.boolean(), ad: fc.boolean(), tc: fc.boolean() }),
});
/** What is other than in the probe before. */
const step = fc.record({
  signals: fc.dictionary(fc.constantFrom(...SIGNAL_TYPES), signal, { maxKeys: 3 }),
  subject: fc.option(words),
  back: fc.boolean(),
});

test('any series of records is given back byte for byte, by the store and by the view of operators', (t) => {
  const { file, records, host } = opened(t);
  const view = QUERY_VIEWS.find(({ name }) => name === 'observations')?.sql ?? '';
  const db = new DatabaseSync(file, { readOnly: true });
  t.after(() => db.close());
  const selected = db.prepare(`SELECT * FROM (${view}) WHERE seq = ?`);
  const first = probe(HOST.hostname, START, { A: ['192.0.2.1'], TXT: ['"𝔘"'] }, certificate('a'));
  let now = START;
  let prev: string | null = null;
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
    let seen: Probe = first;
    for (const { signals, subject, back } of steps) {
      now += HOUR;
      seen = { ...(back ? first : seen) };
      seen.signals = { ...seen.signals, ...signals };
      if (subject !== null && seen.certificate) seen.certificate = { ...seen.certificate, subject };
      const record = recordOf(seen, HOST, now);
      const observation = observe({ record, seq: records.nextSeq(), prev, seed: randomBytes(32) }, toolsAt(now));
      records.addObservation(host, observation);
      records.requeue(host, { seq: observation.seq, due_at: now, looked_at: now, failures: 0, operator: '' });
      prev = observation.receipt_hash;

      const read = records.observationBySeq(host, observation.seq);
      assert(read !== null);
      assert.equal(canonicalize(read.record), canonicalize(record));
      assert.deepEqual({ ...read, record, seed: null }, { ...observation, record, seed: null });
      assert.deepEqual(Buffer.from(read.seed), Buffer.from(observation.seed));
      const { body, circumstances } = partsOf(record);
      assert.deepEqual(
        { ...selected.get(observation.seq) },
        {
          seq: observation.seq,
          domain: HOST.hostname,
          observed_at: now,
          record: canonicalize(body),
          circumstances: JSON.stringify(circumstances),
          receipt: observation.receipt,
          receipt_hash: observation.receipt_hash,
        },
      );
    }
  });
  fc.assert(property, { numRuns: 100 });
  const patches = db.prepare('SELECT count(*) AS n FROM body_patches').get() as { n: number };
  assert(patches.n > 10, 'patches were stored');
  assert.deepEqual(records.tableFaults(), []);
  assert.deepEqual(
    records.receipts(1, 5),
    [...records.observationsOf(host)].slice(0, 5).map(({ receipt }) => receipt),
  );
});

test('a patch makes one body of any other with the same fields, and none of another form', () => {
  const body = fc
    .record({ a: words, b: fc.array(words), 'signals.A': fc.record({ values: fc.array(words) }), z: fc.boolean() })
    .map((fields) => canonicalize(fields) ?? '');
  fc.assert(
    fc.property(body, body, body, (base, next, last) => {
      const change = patchOf(base, next, last);
      assert(change !== null);
      assert.equal(patched(base, JSON.parse(JSON.stringify(change.pieces))), next);
    }),
    { numRuns: 300 },
  );
  assert.equal(patchOf('{"a":1}', '{"b":1}', '{"a":1}'), null);
  assert.equal(patchOf('{"a":1}', '{"a":1,"b":1}', '{"a":1}'), null);
  assert.equal(patchOf('{"a": 1}', '{"a":2}', '{"a":1}'), null, 'blanks would be lost');
  assert.equal(patchOf('{"b":1,"1":2}', '{"b":2,"1":2}', '{"a":1}'), null, 'numbers come first in JavaScript');
});

const recordAt = (values: Parameters<typeof probe>[2], now: number): DomainRecord =>
  recordOf(probe(HOST.hostname, now, values, certificate('a')), HOST, now);

test('a state that returns is not stored again, and what stays becomes the base', (t) => {
  const { records, host, count } = opened(t);
  let now = START;
  let prev: string | null = null;
  const see = (values: Parameters<typeof probe>[2]) => {
    now += HOUR;
    const tools = toolsAt(now);
    const seq = records.nextSeq();
    const observation = observe({ record: recordAt(values, now), seq, prev, seed: randomBytes(32) }, tools);
    records.addObservation(host, observation);
    records.requeue(host, { seq, due_at: now, looked_at: now, failures: 0, operator: '' });
    prev = observation.receipt_hash;
  };
  const soa = (serial: number) => [`ns.example.com host.example.com ${serial} 7200 3600 1209600 300`];
  for (let n = 0; n < 20; n++) see({ SOA: soa(1), A: [n % 2 === 0 ? '192.0.2.1' : '192.0.2.2'] });
  assert.deepEqual([count('record_bodies'), count('body_patches'), count('shared_circumstances')], [1, 1, 1]);

  // A long text stays, while the serial goes on: every patch would hold both.
  const TXT = [`"${'x'.repeat(400)}"`];
  for (let n = 0; n < 50; n++) see({ SOA: soa(n + 2), A: ['192.0.2.1'], TXT });
  assert.equal(count('record_bodies'), 2, 'one more body, and no more');
  assert.equal([...records.observationsOf(host)].length, 70);
});

test('an observation of an older version is read as it was, is a base, and is found by its hash', (t) => {
  const { file, records, host, count } = opened(t);
  const record = recordAt({ A: ['192.0.2.1'] }, START);
  const old = observe({ record, seq: 1, prev: null, seed: randomBytes(32) }, toolsAt(START));
  const { body, circumstances } = partsOf(record);
  const db = new Database(file);
  db.prepare('INSERT INTO record_bodies (digest, body) VALUES (?, ?)').run([randomBytes(32), canonicalize(body)]);
  db.prepare(
    'INSERT INTO observations (seq, host, observed_at, body, circumstances, seed, receipt, receipt_hash) VALUES (1, ?, ?, 1, ?, ?, ?, ?)',
  ).run([host, START, JSON.stringify(circumstances), old.seed, old.receipt, old.receipt_hash]);
  db.close();
  records.requeue(host, { seq: 1, due_at: START, looked_at: START, failures: 0, operator: '' });
  assert.deepEqual(records.observationBySeq(host, 1)?.receipt, old.receipt);
  assert.equal(canonicalize(records.observationBySeq(host, 1)?.record), canonicalize(record));

  records.leaseNames({ id: 'lease', owner: 'test', names: [HOST.hostname], until: START + HOUR });
  const taken = probe(HOST.hostname, START, { A: ['192.0.2.2'] }, certificate('a'));
  assert.equal(recordProbe(records, 'lease', taken, toolsAt(START)).outcome, 'recorded');
  assert.deepEqual([count('record_bodies'), count('body_patches')], [1, 1]);
  const next = records.observationBySeq(host, 2);
  assert.match(next?.receipt ?? '', new RegExp(`\nprev ${old.receipt_hash}\n`));
  for (const { receipt_hash } of [old, next ?? old]) {
    assert.equal(records.receiptLocation(receipt_hash)?.hostname, HOST.hostname, receipt_hash);
  }
  assert.equal(records.receiptLocation(`${old.receipt_hash.slice(0, -1)}x`), null);
  assert.deepEqual(records.tableFaults(), []);
});

test('a damaged part stops no new observation of its host', (t) => {
  const { file, records, host } = opened(t);
  const look = (address: string, hours: number) => {
    const now = START + hours * HOUR;
    records.leaseNames({ id: `lease-${hours}`, owner: 'test', names: [HOST.hostname], until: now + HOUR });
    const taken = probe(HOST.hostname, now, { A: [address] }, certificate('a'));
    return recordProbe(records, `lease-${hours}`, taken, toolsAt(now)).outcome;
  };
  look('192.0.2.1', 0);
  look('192.0.2.2', 1);
  const db = new Database(file);
  db.exec(`DROP TRIGGER body_patches_fixed; UPDATE body_patches SET patch = '[['`);
  db.close();
  assert.equal(look('192.0.2.3', 2), 'recorded');
  assert.throws(() => records.observationBySeq(host, 2), /seq 2: its record cannot be read/);
  assert.match(JSON.stringify(records.observationBySeq(host, 3)?.record), /192\.0\.2\.3/);
});

test('an observation that differs in its serial and its round trips takes at most 600 bytes', {
  skip: ONLY_WIDE,
}, (t) => {
  const names = Array.from({ length: 200 }, (_, n) => `h${n}.zone${n % 97}.example`);
  const { file, records } = opened(t, names);
  const ROUNDS = 12;
  const pages = () => {
    const db = new Database(file);
    db.exec('VACUUM');
    const { page_count } = db.prepare('PRAGMA page_count').get() as { page_count: number };
    db.close();
    return page_count * 4_096;
  };
  let first = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const now = START + round * HOUR;
    records.leaseNames({ id: `lease-${round}`, owner: 'test', names, until: now + HOUR });
    records.transact(() => {
      for (const [n, name] of names.entries()) {
        const zone = name.replace(/^h\d+\./, '');
        const SOA = [`ns1.${zone} hostmaster.${zone} ${2_026_112_100 + round} 7200 3600 1209600 300`];
        const taken = probe(name, now, { A: [`192.0.2.${n}`], NS: [`ns1.${zone}`], SOA }, certificate('a'));
        for (const one of Object.values(taken.signals)) one.rtt_ms = (n * 31 + round * 17) % 97;
        assert.equal(recordProbe(records, `lease-${round}`, taken, toolsAt(now)).outcome, 'recorded');
      }
    });
    if (round === 0) first = pages();
  }
  const each = (pages() - first) / (names.length * (ROUNDS - 1));
  t.diagnostic(`${each.toFixed(0)} bytes`);
  assert(each <= 600, `${each} bytes`);
});
