import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import canonicalize from 'canonicalize';
import { verifyNoble, verifyNode } from '../../src/proof/ed25519.ts';
import { leafHash } from '../../src/proof/merkle.ts';
import { disclosureText, parseDisclosure } from '../../src/proof/records/disclosure.ts';
import { disclosuresOf, type Observation, observe } from '../../src/proof/records/observation.ts';
import { fullRecordOf, previewOf } from '../../src/proof/records/preview.ts';
import { observationText, parseObservation } from '../../src/proof/records/receipt.ts';
import type { DomainRecord } from '../../src/proof/records/record.ts';
import { KNOWN_STATUSES, type Probe, SIGNAL_TYPES, UNKNOWN_STATUSES } from '../../src/proof/records/signal.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { partsOf, recordFromParts, recordOf } from '../../src/records/record.ts';
import { certificate, KEY, probe, toolsAt } from '../support/probes.ts';
import * as fc from '../support/properties.ts';
import { previewFaults, recordFaults } from '../support/records-faults.ts';

const AT = Date.UTC(2026, 10, 20, 12);
const HOST = parseHostname('bücher.example.co.uk');
const TOOLS = toolsAt(AT);

const SEEN = probe(
  HOST.hostname,
  AT,
  {
    A: ['192.0.2.1', '192.0.2.2'],
    AAAA: 'timeout',
    NS: ['ns1.example.net', 'ns2.example.net'],
    MX: ['10 aspmx.l.google.com'],
    TXT: ['"google-site-verification=secret-token"', '"v=spf1 include:_spf.google.com ~all"'],
    DS: ['12345 13 2 49fd46e6c4b45c55d4ac'],
    CAA: 'nxdomain',
  },
  certificate('c'),
);

function observed(seen: Probe = SEEN, seq = 1, prev: string | null = null): Observation {
  return observe({ record: recordOf(seen, HOST, seen.at), seq, prev, seed: new Uint8Array(randomBytes(32)) }, TOOLS);
}

const signalArbitrary = fc
  .record({
    status: fc.constantFrom(...KNOWN_STATUSES, ...UNKNOWN_STATUSES),
    ttl: fc.option(fc.nat(2 ** 31 - 1)),
    values: fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 4 }),
    transport: fc.constantFrom('udp' as const, 'tcp' as const, null),
    rtt_ms: fc.option(fc.nat(9_000)),
    flags: fc.record({ aa: fc.boolean(), ad: fc.boolean(), tc: fc.boolean() }),
  })
  .map((signal) => ({ ...signal, values: signal.values.sort() }));
const anySignals = fc.record(
  Object.fromEntries(SIGNAL_TYPES.map((type) => [type, signalArbitrary])),
) as unknown as fc.Arbitrary<Probe['signals']>;

test('a record that was split for storage is reassembled unchanged', () => {
  fc.assert(
    fc.property(anySignals, fc.boolean(), (signals, wildcard) => {
      const record = recordOf({ ...SEEN, signals, wildcard }, HOST, AT);
      const kept = JSON.parse(JSON.stringify(partsOf(record))) as ReturnType<typeof partsOf>;
      assert.equal(canonicalize(recordFromParts(kept, record.observed_at)), canonicalize(record));
      assert(!JSON.stringify(kept.body).includes('rtt_ms'), 'what changes from look to look is not in the body');
    }),
    { numRuns: 100 },
  );
});

test('for any observation, the full record and its preview verify in both implementations', () => {
  fc.assert(
    fc.property(anySignals, (signals) => {
      const observation = observed({ ...SEEN, signals });
      for (const verify of [verifyNode, verifyNoble]) {
        assert.deepEqual(recordFaults(fullRecordOf(observation), [KEY], verify), []);
        assert.deepEqual(previewFaults(previewOf(observation), [KEY], verify), []);
      }
    }),
    { numRuns: 30 },
  );
});

test('leaves are in the order of the fields’ names, and every field is one', () => {
  const observation = observed();
  const names = disclosuresOf(observation.record, observation.seed).map((text) => parseDisclosure(text)?.name);
  assert.deepEqual(names, Object.keys(observation.record).sort());
  assert.equal(names.length, SIGNAL_TYPES.length + 9);
  assert.equal(parseObservation(`${observation.receipt.split('\n\n')[0]}\n`)?.record_fields, names.length);
});

test('salts are of 128 bits, differ from field to field, and from probe to probe', () => {
  const salts = [observed(), observed()].flatMap(({ record, seed }) =>
    disclosuresOf(record, seed).map((text) => parseDisclosure(text)?.salt ?? ''),
  );
  assert.equal(new Set(salts).size, salts.length);
  for (const salt of salts) assert.equal(Buffer.from(salt, 'base64url').length, 16);
  assert.throws(() => disclosuresOf(SEEN, new Uint8Array(16)), /a seed must have 32 bytes/);
});

test('a preview says what it is, and shows numbers where it holds values back', () => {
  const observation = observed();
  const preview = previewOf(observation);
  assert.deepEqual(preview.nameservers, ['ns1.example.net', 'ns2.example.net']);
  assert.equal(preview.summary.A, 2);
  assert.equal(preview.summary.SVCB, 0, 'none, which is known');
  assert.equal(preview.summary.AAAA, undefined, 'unknown, which is not none');
  assert.equal(preview.unicode, 'bücher.example.co.uk');
  assert.equal(preview.registrable_domain, 'example.co.uk');
  assert.equal(preview.disclosures.length + preview.held_back.fields, Object.keys(observation.record).length);
  // Each fact beside the proof is a fact within it.
  const proven = new Map(
    preview.disclosures.map(({ disclosure }) => [
      parseDisclosure(disclosure)?.name,
      parseDisclosure(disclosure)?.value,
    ]),
  );
  for (const name of ['domain', 'unicode', 'registrable_domain', 'observed_at', 'summary'] as const) {
    assert.deepEqual(proven.get(name), preview[name], name);
  }
  assert.deepEqual((proven.get('signals.NS') as { values: string[] }).values, preview.nameservers);
});

test('a preview reveals nothing of what it holds back: no guess of a value can be confirmed', () => {
  const observation = observed();
  const preview = previewOf(observation);
  const text = JSON.stringify(preview);
  const shown = new Set(preview.disclosures.map(({ disclosure }) => parseDisclosure(disclosure)?.name));
  const hidden = Object.entries(observation.record).filter(([name]) => !shown.has(name));
  assert.equal(hidden.length, preview.held_back.fields);

  for (const value of [
    ...SEEN.signals.A.values,
    ...SEEN.signals.TXT.values,
    ...SEEN.signals.MX.values,
    'c'.repeat(64),
  ]) {
    assert(!text.includes(JSON.stringify(value).slice(1, -1)), `${value} is in the preview`);
  }
  assert(!text.includes(Buffer.from(observation.seed).toString('hex')));
  assert(!text.includes(Buffer.from(observation.seed).toString('base64url')));

  // Somebody who guesses every held-back value exactly, and tries every salt that the preview shows and none at all.
  const hashes = new Set(preview.disclosures.flatMap(({ path }) => path));
  const salts = [
    '',
    'A'.repeat(22),
    ...preview.disclosures.map(({ disclosure }) => parseDisclosure(disclosure)?.salt ?? ''),
  ];
  const leaf = (data: string) => Buffer.from(leafHash(data)).toString('hex');
  for (const [name, value] of hidden) {
    const guesses = salts.map((salt) => disclosureText({ salt, name, value }));
    guesses.push(canonicalize([name, value]) ?? '', canonicalize(value) ?? '', canonicalize({ [name]: value }) ?? '');
    for (const guess of guesses) assert(!hashes.has(leaf(guess)), `${name} could be guessed`);
  }
  // The same search does find fields whose salts are known: the test can fail.
  const known = disclosuresOf(observation.record, observation.seed).filter((disclosure) =>
    hashes.has(leaf(disclosure)),
  );
  assert(known.length > 0);
});

test('the salts in a preview reveal nothing about the others', () => {
  // Another observation of the same record: the same guesses, other hashes, and nothing in common.
  const [one, other] = [previewOf(observed()), previewOf(observed())];
  const hashes = (preview: typeof one) => preview.disclosures.flatMap(({ path }) => path);
  assert.deepEqual(
    hashes(one).filter((hash) => hashes(other).includes(hash)),
    [],
  );
});

test('any change to a preview’s proof invalidates it', () => {
  const observation = observed();
  const whole = previewOf(observation);
  const last = whole.disclosures.length - 1;
  const shown = whole.disclosures[last];
  assert(shown !== undefined);
  const put = (change: Partial<typeof shown>) => ({
    ...whole,
    disclosures: [...whole.disclosures.slice(0, last), { ...shown, ...change }],
  });
  const other = previewOf(observed());
  const altered = {
    'another value': put({ disclosure: shown.disclosure.replace('bücher', 'bucher') }),
    'another place': put({ index: shown.index - 1 }),
    'no place': put({ index: 999 }),
    'a shorter path': put({ path: shown.path.slice(1) }),
    'a longer path': put({ path: [...shown.path, '0'.repeat(64)] }),
    'no hex': put({ path: shown.path.map((hash) => hash.toUpperCase()) }),
    'a path of something else': put({ path: ['x'] }),
    'no JSON': put({ disclosure: 'x' }),
    'a blank more': put({ disclosure: shown.disclosure.replace(',', ', ') }),
    'a field of another record': { ...whole, disclosures: other.disclosures },
    'another receipt': { ...whole, receipt: other.receipt },
    'an altered receipt': { ...whole, receipt: whole.receipt.replace('seq 1', 'seq 2') },
  };
  for (const [claim, preview] of Object.entries(altered)) {
    for (const verify of [verifyNode, verifyNoble]) {
      assert.notDeepEqual(previewFaults(preview, [KEY], verify), [], claim);
    }
  }
  assert.match(previewFaults(whole, [], verifyNode).join(), /no key with kid/);
});

test('a receipt that was written is read again as it was, and none is written that could be read otherwise', () => {
  const hash = fc.stringMatching(/^[0-9a-f]{64}$/).map((hex) => `sha256:${hex}`);
  const receipt = fc.record(
    {
      domain: fc.domain(),
      seq: fc.integer({ min: 1, max: 1e15 - 1 }),
      observed_at: fc
        .date({ min: new Date(0), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      record_root: hash,
      record_fields: fc.integer({ min: 1, max: 1e6 }),
      prev: fc.option(hash),
      kid: fc.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    },
    { noNullPrototype: true },
  );
  fc.assert(fc.property(receipt, (said) => assert.deepEqual(parseObservation(observationText(said)), said)));
  const sound = {
    domain: 'a.test',
    seq: 1,
    observed_at: '2026-11-20T12:00:00.000Z',
    record_root: `sha256:${'0'.repeat(64)}`,
    record_fields: 1,
    prev: null,
    kid: 'k',
  };
  assert.notEqual(parseObservation(observationText(sound)), null);
  for (const change of [
    { domain: 'a.test\nseq 2' },
    { kid: 'a b' },
    { seq: 0 },
    { seq: 1.5 },
    { observed_at: '2026-02-30T00:00:00.000Z' },
    { record_fields: 0 },
  ]) {
    assert.throws(() => observationText({ ...sound, ...change }), /a receipt cannot say/);
  }
});

test('a record is only what the probe and the name say', () => {
  const record: DomainRecord = recordOf(
    { ...SEEN, signals: { ...SEEN.signals, A: { ...SEEN.signals.A, rtt_ms: 12.345 } } },
    HOST,
    AT,
  );
  assert.equal(record['signals.A']?.rtt_ms, 12, 'whole milliseconds: no floats are signed');
  assert(!JSON.stringify(record).includes('127.0.0.1'), 'which resolver was asked is not told');
  assert.deepEqual(record.services, [
    { service: 'Google', kind: 'verification', seen_in: ['TXT'] },
    { service: 'Google Workspace', kind: 'mail', seen_in: ['MX'] },
  ]);
});
