import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkRecords, recordsDocument } from '../../src/operate/audit/verify-records.ts';
import { jwks, type VerifyingKey } from '../../src/proof/keyring.ts';
import { badgeOf } from '../../src/proof/records/badge.ts';
import { type Observation, observe } from '../../src/proof/records/observation.ts';
import { fullRecordOf, previewOf } from '../../src/proof/records/preview.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordOf } from '../../src/records/record.ts';
import { provenanceRow } from '../../src/records/wire-rows.ts';
import { tempFolder } from '../support/app-context.ts';
import { HOUR, KEY, probe, toolsAt } from '../support/probes.ts';
import { run } from '../support/program.ts';
import { evidenceOf } from '../support/records-faults.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const AT = Date.UTC(2026, 10, 20, 12);
const HOST = parseHostname('bücher.example');

const CHAIN: Observation[] = [];
for (let n = 0; n < 3; n++) {
  const at = AT + n * HOUR;
  const record = recordOf(probe(HOST.hostname, at, { A: [`192.0.2.${n}`] }), HOST, at);
  const seed = new Uint8Array(32).fill(n);
  CHAIN.push(observe({ record, seq: n + 1, prev: CHAIN.at(-1)?.receipt_hash ?? null, seed }, toolsAt(at)));
}
const newest = CHAIN.at(-1) as Observation;

/** What is found in a text by these keys; without any by those that come with it. */
async function faultsIn(document: unknown, keys?: VerifyingKey[]): Promise<string> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const read = recordsDocument(text);
  assert(read !== null && read.kind !== 'dump', text.slice(0, 80));
  return (await checkRecords('it', read, keys)).faults.join('\n');
}

const record = fullRecordOf(newest);
const bundle = evidenceOf(HOST.hostname, CHAIN, [KEY]);
const items = CHAIN.map((one) =>
  provenanceRow({ ...one, observed_at: Date.parse(one.record.observed_at) }, null),
).reverse();

const badge = badgeOf(newest, '/t/x');
const provenance = { domain: HOST.hostname, items };
const provenanceWith = (change: object) => ({
  ...provenance,
  items: items.with(0, { ...items[0], ...change } as (typeof items)[0]),
});

test('unsigned members are named without being a fault', () => {
  const unsigned = (document: object) => recordsDocument(JSON.stringify(document))?.unsigned;
  assert.deepEqual(unsigned({ ...record, price: 1, signals: record.signals }), ['price']);
  assert.deepEqual(unsigned({ ...previewOf(newest) }), ['notice', 'held_back.how']);
  const { held_back, ...preview } = previewOf(newest);
  assert.deepEqual(unsigned({ ...preview, held_back: { ...held_back, offer: { price: '0.001 USDC' } } }), [
    'notice',
    'held_back.how',
    'held_back.offer',
  ]);
  assert.deepEqual(unsigned(provenanceWith({ log: null, note: 'x' })), ['items[0].note']);
  assert.deepEqual(unsigned({ ...provenance, total: 9, next_cursor: 'x' }), ['total', 'next_cursor']);
  assert.deepEqual(unsigned({ observation: { ...record, price: 1 }, domain: 'x' }), ['domain', 'observation.price']);
  // In which time a key signed, and whatever else a bundle says of it, nobody signed either.
  const times = ['keys[0].nbf', 'keys[0].retired_at'];
  assert.deepEqual(unsigned({ ...bundle, approved: true }), ['approved', ...times]);
  const [key, ...others] = bundle.keys;
  assert.deepEqual(unsigned({ ...bundle, keys: [{ ...key, owner: 'x' }, ...others] }), [...times, 'keys[0].owner']);
});

test('every document of the domain records verifies, and every change is found', async () => {
  for (const sound of [newest.receipt, badge, previewOf(newest), record, provenance, bundle]) {
    assert.equal(await faultsIn(sound, [KEY]), '');
  }
  assert.equal(await faultsIn({ observation: previewOf(newest) }, [KEY]), '', 'inside a page’s JSON');
  assert.equal(await faultsIn(bundle), '', 'by its own keys');
  const cases: [document: unknown, fault: RegExp, keys?: VerifyingKey[]][] = [
    [newest.receipt, /^seq 3: observed at \S+, but its key was retired at/, [{ ...KEY, retired_at: AT - HOUR }]],
    [newest.receipt, /^seq 3: observed at \S+, but its key was in use only from/, [{ ...KEY, nbf: AT + 30 * HOUR }]],
    [newest.receipt, /^seq 3: no key with kid/, []],
    [newest.receipt.replace('seq 3', 'seq 4'), /^seq 4: the signature does not hold$/],
    [{ ...record, signals: { ...record.signals, A: { values: [] } } }, /^signals\.A is not what was signed$/],
    [{ ...previewOf(newest), summary: {} }, /^summary is not what was signed$/],
    [{ ...provenance, items: items.toSpliced(1, 1) }, /^seq 3: prev is/],
    [{ ...bundle, records: bundle.records.slice(1) }, /nothing is before it$/],
    [{ ...bundle, keys: [] }, /no key with kid/, []],
    [{ ...bundle, keys: [{ ...bundle.keys[0], kid: 'x' }] }, /1 of its keys are invalid/],
    [{ ...previewOf(newest), signed: true }, /^signed is not false$/],
    [{ ...record, signed: false }, /^signed is not true$/],
    [{ ...record, domain: 'other.example' }, /^it says domain other\.example, but the receipt says xn--/],
    [{ ...record, summary: undefined }, /^summary is missing$/],
    [{ ...provenance, domain: 'other.example' }, /^a receipt is not of other\.example$/],
    [provenanceWith({ seq: 9 }), /^row 1 says seq 9, but its receipt says 3$/],
    [
      provenanceWith({ observed_at: '2020-01-01T00:00:00.000Z' }),
      /^row 1 says observed_at 2020-\S+, but its receipt says/,
    ],
    [
      provenanceWith({ record_root: `sha256:${'0'.repeat(64)}` }),
      /^row 1 says record_root sha256:0+, but its receipt says/,
    ],
    [
      { ...provenance, items: [{ seq: 4 }, ...items] },
      /^items\[0\]\.observed_at is missing\n.*\nitems\[0\]\.receipt is missing$/,
    ],
    [{ ...provenance, items: items.slice(0, 2), next_cursor: null }, /nothing is before it$/],
    [
      badge.replaceAll('bücher.example', 'other.example'),
      /^the badge shows the name other\.example, but its receipt is of xn--/,
    ],
    [
      badge.replace('no. 3', 'no. 4'),
      /^the badge is not the one .* it shows bücher\.example, observed 2026-11-20 · signed no\. 4$/,
    ],
    [badge.replace('observed 2026', 'observed 2027'), /^the badge is not the one/],
    [badge.replace('</g>', '<text x="8" y="14">Approved</text></g>'), /^the badge is not the one .*Approved$/],
    [badge.replace('/t/x', 'javascript:alert(1)'), /^the badge links to javascript:/],
  ];
  for (const [document, fault, keys = [KEY]] of cases) assert.match(await faultsIn(document, keys), fault);
  assert.equal(recordsDocument('{"id": 1}'), null);
  assert.equal(recordsDocument('hello'), null);
});

test('verify says what it found and by whose keys, and ends accordingly', async (t) => {
  const folder = tempFolder(t);
  const put = (name: string, value: unknown): string => {
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));
    return join(folder, name);
  };
  const receipt = put('receipt.txt', newest.receipt);
  const evidence = put('evidence.json', bundle);
  const site = createServer((request, response) => {
    const isKeys = request.url === '/.well-known/records-keys.json';
    if (request.url === '/v1/domains/soon.example') response.writeHead(429, { 'retry-after': '9' });
    response.end(JSON.stringify(isKeys ? jwks([KEY]) : previewOf(newest)));
  }).listen(0, '127.0.0.1');
  t.after(() => site.close());
  await once(site, 'listening');
  const root = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

  const cases: [args: string[], code: number, said: RegExp][] = [
    [
      [receipt, '--keys', `${root}/.well-known/records-keys.json`],
      0,
      /^xn--\S+: the signature holds\nA receipt proves what/,
    ],
    [[receipt], 2, /a receipt contains no keys; give --keys/],
    [
      [evidence],
      0,
      /3 records, their signatures and the chain hold, from its beginning \(no\. 1 to no\. 3\); a bundle cannot say whether more followed\nThe keys are the ones that come with/,
    ],
    [
      [put('cut.json', { ...bundle, records: bundle.records.slice(1) })],
      1,
      /nothing is before it\n\S+ not signed, .*\n\S+: the evidence does not/,
    ],
    [[`${root}/v1/domains/x.example`], 0, /what it says hold\nThe keys are the ones that the same site lists/],
    [[`${root}/v1/domains/soon.example`], 2, /^broadsheet: \S+ answered 429; ask again in 9 s\n$/],
  ];
  for (const [args, code, said] of cases) {
    const outcome = await run(t, folder, ['verify', ...args]);
    assert.match(outcome.stdout + outcome.stderr, said, args.join(' '));
    assert.equal(outcome.code, code, args.join(' '));
  }
  const keys = put('records-keys.json', jwks([KEY]));
  const { stdout } = await run(t, folder, ['verify', evidence, '--keys', keys, '--json']);
  const said = {
    document: evidence,
    kind: 'evidence',
    domain: HOST.hostname,
    receipts: 3,
    seqs: [1, 3],
    faults: [],
    unsigned: ['keys[0].nbf', 'keys[0].retired_at'],
    own_keys: false,
    logged: null,
    corrected: [],
  };
  assert.deepEqual(JSON.parse(stdout), [said]);
});

test('a document of more receipts than a call takes arguments is judged', { skip: ONLY_WIDE }, async () => {
  const root = `sha256:${'0'.repeat(64)}`;
  const observed_at = '2026-01-01T00:00:00.000Z';
  const receipt = (seq: number) =>
    `domain-observation/v1\ndomain a.example\nseq ${seq}\nobserved_at ${observed_at}\nrecord_root ${root}\nrecord_fields 1\nprev none\nkid k\n\n— a AAAAAAAA\n`;
  const seqs = Array.from({ length: 130_000 }, (_, index) => index + 1);
  const items = seqs.map((seq) => ({ seq, observed_at, record_root: root, receipt: receipt(seq) }));
  const document = recordsDocument(JSON.stringify({ domain: 'a.example', items }));
  assert.ok(document?.kind === 'provenance');
  assert.deepEqual((await checkRecords('x', document, [])).seqs, [1, 130_000]);
});
