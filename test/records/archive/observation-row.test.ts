import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import canonicalize from 'canonicalize';
import { sha256 } from '../../../src/proof/basis.ts';
import { receiptHashLeaf } from '../../../src/proof/log/logged-entries.ts';
import { observationText } from '../../../src/proof/records/receipt.ts';
import {
  ObservationRows,
  observationOf,
  type StoredObservation,
  StoredObservations,
} from '../../../src/records/archive/observation-row.ts';
import { readRows } from '../../../src/records/archive/parquet-read.ts';
import { writeParquet } from '../../../src/records/archive/parquet-write.ts';
import { OBSERVATIONS } from '../../../src/records/archive/tables.ts';
import { parseHostname, pathOf } from '../../../src/records/hostname.ts';
import { appContextIn, tempFolder } from '../../support/app-context.ts';
import { HOUR, probe } from '../../support/probes.ts';
import * as fc from '../../support/properties.ts';
import { recordProbes } from '../../support/records-fixture.ts';
import { filesIn, sourceOf } from './archived.ts';

const nextFile = filesIn(tempFolder({ after }));

/** Writes observations by path and number, and reads them again. */
async function roundTrip(stored: StoredObservation[]): Promise<StoredObservation[]> {
  const file = nextFile();
  const rows = new ObservationRows();
  const written = await writeParquet(
    OBSERVATIONS,
    stored.map((one) => rows.rowOf(one)),
    file,
  );
  assert.equal(written.rows, stored.length);
  const { source } = sourceOf(file);
  assert.equal(written.bytes, source.size);
  assert.equal(
    written.sha256,
    createHash('sha256')
      .update(await source.read(0, source.size))
      .digest('hex'),
  );
  const again: StoredObservation[] = [];
  const observations = new StoredObservations();
  for await (const row of readRows(OBSERVATIONS, source)) again.push(observations.storedOf(row));
  return again;
}

const hash = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `sha256:${Buffer.from(bytes).toString('hex')}`);
/** More than a page. */
const LONG = JSON.stringify({ 'signals.TXT': 'é😀"\\'.repeat(6_000) });
const TEXT = fc.string({ unit: 'binary', maxLength: 40 });
const body = fc.oneof(
  fc
    .dictionary(TEXT, fc.oneof(TEXT, fc.integer(), fc.array(TEXT, { maxLength: 3 })), { maxKeys: 5 })
    .map((value) => canonicalize(value) ?? ''),
  // As damaged rows may have them.
  TEXT,
  fc.constant('60 kB'),
);
const signer = fc.constantFrom<{ kid: string; name: string; key: number[] }>(
  { kid: 'kid-one', name: 'records.example/door', key: [1, 2, 3, 4] },
  { kid: 'kid-two', name: 'höst/door', key: [0, 0, 0, 0] },
);
const observation = fc.record({
  name: fc.constantFrom<string>('example.com', 'a.example.com', 'xn--bcher-kva.example'),
  body,
  circumstances: fc.oneof(fc.constant('[]'), fc.constant('[[300,"udp",7,"a"]]'), TEXT),
  signer,
  root: hash,
  fields: fc.integer({ min: 1, max: 40 }),
  signature: fc.uint8Array({ minLength: 64, maxLength: 64 }),
  at: fc.integer({ min: 0, max: 4e12 }),
  capped: fc.option(fc.nat(1e9)),
  link: fc.constantFrom<string>('next', 'next', 'next', 'none', 'other'),
  damage: fc.constantFrom<string>('', '', '', '', 'receipt', 'hash', 'time', 'cut', 'empty'),
});

type Generated = typeof observation extends fc.Arbitrary<infer T> ? T : never;

/** Observations with receipts, some of them damaged in ways that rows of older versions might be. */
function storedOf(list: Generated[]): StoredObservation[] {
  const hashes = new Map<string, string>();
  return list
    .map((one, index) => ({ ...one, seq: index + 1 }))
    .sort((a, b) => (pathOf(a.name) < pathOf(b.name) ? -1 : pathOf(a.name) > pathOf(b.name) ? 1 : a.seq - b.seq))
    .map((one): StoredObservation => {
      const { name, seq, at, capped, damage, link } = one;
      const known = hashes.get(name) ?? null;
      const text = observationText({
        ...{
          domain: name,
          seq,
          observed_at: new Date(at).toISOString(),
          record_root: one.root,
          record_fields: one.fields,
        },
        prev: link === 'next' ? known : link === 'none' ? null : `sha256:${'0'.repeat(64)}`,
        kid: one.signer.kid,
      });
      const signature = Buffer.from([...one.signer.key, ...one.signature]).toString('base64');
      const whole = `${text}\n— ${one.signer.name} ${signature}\n`;
      const receipt =
        damage === 'receipt'
          ? whole.replace('\nseq', '\nSEQ')
          : damage === 'cut'
            ? whole.slice(0, 90)
            : damage === 'empty'
              ? ''
              : whole;
      const receipt_hash = damage === 'hash' ? 'sha256:00' : sha256(text);
      hashes.set(name, receipt_hash.length === 71 ? receipt_hash : sha256(text));
      const signed = damage === 'time' ? at + 1 : at;
      return {
        ...{
          seq,
          hostname: name,
          body: one.body === '60 kB' ? LONG : one.body,
          circumstances: one.circumstances,
          receipt,
          receipt_hash,
        },
        ...(capped === null
          ? { observed_at: signed, signed_at: null }
          : { observed_at: signed - capped, signed_at: signed }),
      };
    });
}

test('every observation comes back byte for byte, whatever is damaged in it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(observation, { maxLength: 12 }), async (list) => {
      const stored = storedOf(list);
      assert.deepEqual(await roundTrip(stored), stored);
    }),
    { numRuns: 60 },
  );
});

test('prev is stored in the first row of a name alone, and receipts in parts', async () => {
  const rows = new ObservationRows();
  const given = storedOf(
    [1, 2, 3].flatMap((n) =>
      ['example.com', 'a.example.com'].map((name) => ({
        ...{ name, body: '{}', circumstances: '[]', signer: { kid: 'k', name: 'd', key: [1, 2, 3, 4] } },
        ...{ root: `sha256:${'1'.repeat(64)}`, fields: 3, signature: new Uint8Array(64), at: n, capped: null },
        ...{ link: 'next', damage: '' },
      })),
    ),
  );
  const made = given.slice(1).map((one) => rows.rowOf(one));
  assert.deepEqual(
    made.map(({ path, prev, receipt }) => [path, prev !== null, receipt]),
    [
      ['com.example', true, null],
      ['com.example', false, null],
      ['com.example.a', false, null],
      ['com.example.a', false, null],
      ['com.example.a', false, null],
    ],
  );
});

test('what the database stores in parts and patches comes back with its record, receipt and leaf', async (t) => {
  const clock = { now: Date.UTC(2026, 9, 20, 12) };
  const app = appContextIn(t, tempFolder(t), clock);
  const { records } = app.store;
  const names = ['bücher.example.com', 'example.com', 'www.example.org'].map(parseHostname);
  for (let n = 0; n < 12; n++) {
    const seen = { A: [`192.0.2.${n % 3}`], SOA: [`ns. host. ${n} 1 1 1 1`], TXT: n === 5 ? ['x'.repeat(60_000)] : [] };
    const at = clock.now + HOUR;
    recordProbes(
      app,
      clock,
      names.map(({ hostname }) => probe(hostname, at, seen)),
    );
  }
  const hosts = names
    .map(({ hostname }) => records.find(hostname))
    .sort((a, b) => (pathOf(a?.hostname ?? '') < pathOf(b?.hostname ?? '') ? -1 : 1));
  const stored = hosts.flatMap((host) => [...records.storedObservations(host?.id ?? 0, 1, 1e9)]);
  assert.equal(stored.length, 36);
  const again = await roundTrip(stored.map(({ seed: _, ...one }) => one));
  for (const [index, one] of stored.entries()) {
    const { seed, ...texts } = one;
    assert.deepEqual(again[index], texts);
    const parsed = observationOf({ ...(again[index] as StoredObservation), seed });
    assert.deepEqual(
      parsed,
      records.observationBySeq(hosts.find((host) => host?.hostname === one.hostname)?.id ?? 0, one.seq),
    );
    assert.equal(receiptHashLeaf(parsed.receipt), receiptHashLeaf(one.receipt));
  }
});
