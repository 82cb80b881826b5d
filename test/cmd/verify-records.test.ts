import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkRecords, recordsDocument } from '../../src/cmd/verify-records.ts';
import type { DoorKey } from '../../src/ledger/keyring.ts';
import { jwks } from '../../src/ledger/keyring.ts';
import { badgeOf } from '../../src/records/badge.ts';
import { evidenceOf } from '../../src/records/evidence.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import type { Observation } from '../../src/records/observation.ts';
import { observe } from '../../src/records/observation.ts';
import { fullRecordOf, previewOf } from '../../src/records/preview.ts';
import { recordOf } from '../../src/records/record.ts';
import { provenanceRow } from '../../src/records/rows.ts';
import { HOUR, KEY, look, toolsAt } from '../support/looks.ts';
import { run } from '../support/program.ts';
import { tempFolder } from '../support/workshop.ts';

const AT = Date.UTC(2026, 10, 20, 12);
const HOST = parseHostname('bücher.example');

const CHAIN: Observation[] = [];
for (let n = 0; n < 3; n++) {
  const at = AT + n * HOUR;
  const record = recordOf(look(HOST.hostname, at, { A: [`192.0.2.${n}`] }), HOST, at);
  const seed = new Uint8Array(32).fill(n);
  CHAIN.push(observe({ record, seq: n + 1, prev: CHAIN.at(-1)?.receipt_hash ?? null, seed }, toolsAt(at)));
}
const newest = CHAIN.at(-1) as Observation;

/** What is found in a text by these keys; without any by those that come with it. */
async function faultsIn(document: unknown, keys?: DoorKey[]): Promise<string> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const read = recordsDocument(text);
  assert(read !== null, text.slice(0, 80));
  return (await checkRecords('it', read, keys)).faults.join('\n');
}

const record = fullRecordOf(newest);
const bundle = evidenceOf(HOST.hostname, CHAIN, [KEY]);
const items = CHAIN.map((one) => provenanceRow({ ...one, observed_at: Date.parse(one.record.observed_at) })).reverse();

test('everything that the domain records give out is checked, and what was changed is found', async () => {
  const provenance = { domain: HOST.hostname, items };
  for (const sound of [newest.receipt, badgeOf(newest, '/t/x'), previewOf(newest), record, provenance, bundle]) {
    assert.equal(await faultsIn(sound, [KEY]), '');
  }
  assert.equal(await faultsIn({ observation: previewOf(newest) }, [KEY]), '', 'inside a page’s JSON');
  assert.equal(await faultsIn(bundle), '', 'by its own keys');
  const cases: [document: unknown, fault: RegExp, keys?: DoorKey[]][] = [
    [newest.receipt, /^seq 3: observed at \S+, but its key was retired at/, [{ ...KEY, retired_at: AT - HOUR }]],
    [newest.receipt, /^seq 3: observed at \S+, but its key was in use only from/, [{ ...KEY, nbf: AT + 30 * HOUR }]],
    [newest.receipt, /^seq 3: no key with kid/, []],
    [newest.receipt.replace('seq 3', 'seq 4'), /^seq 4: the signature does not hold$/],
    [{ ...record, signals: { ...record.signals, A: { values: [] } } }, /^signals\.A is not what was signed$/],
    [{ ...previewOf(newest), summary: {} }, /^summary is not what was signed$/],
    [{ ...provenance, items: items.toSpliced(1, 1) }, /^seq 3: prev is/],
    [{ ...bundle, records: bundle.records.slice(1) }, /nothing is before it$/],
    [{ ...bundle, keys: [] }, /no key with kid/, []],
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
    [[receipt], 2, /a receipt brings no keys; give --keys/],
    [[evidence], 0, /3 records, .* whole chain hold\nThe keys are the ones that come with/],
    [
      [put('cut.json', { ...bundle, records: bundle.records.slice(1) })],
      1,
      /nothing is before it\n\S+: the evidence does not/,
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
    faults: [],
    own_keys: false,
  };
  assert.deepEqual(JSON.parse(stdout), [said]);
});
