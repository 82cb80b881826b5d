import assert from 'node:assert/strict';
import { test } from 'node:test';
import canonicalize from 'canonicalize';
import { checkDocument } from '../../src/parts/client/records/check-document.ts';
import { NotFetched } from '../../src/parts/client/verify/fetched.ts';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { keyHash, type VerifyingKey } from '../../src/proof/keyring.ts';
import { badgeOf } from '../../src/proof/records/badge.ts';
import type { Evidence } from '../../src/proof/records/evidence.ts';
import { type Observation, observe } from '../../src/proof/records/observation.ts';
import { fullRecordOf, previewOf } from '../../src/proof/records/preview.ts';
import { documentFaults } from '../../src/proof/records/verify/document-faults.ts';
import { documentIn } from '../../src/proof/records/verify/documents.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordOf } from '../../src/records/record.ts';
import { provenanceRow } from '../../src/records/wire-rows.ts';
import { altered, change, withoutMembers } from '../support/mutations.ts';
import { certificate, HOUR, KEY, probe, toolsAt } from '../support/probes.ts';
import * as fc from '../support/properties.ts';
import { evidenceOf, receiptChainFaults } from '../support/records-faults.ts';

// Thousands of altered documents: the command line's verifier and the browser's must judge each alike, and
// what they take must say nothing but what was signed. The seed is fixed; `.ci/wide` takes new ones, for long.

const AT = Date.UTC(2026, 10, 20, 12);
const HOST = parseHostname('bücher.example');
/** The time in which the key signs ends soon after the last observation. */
const DOOR: VerifyingKey = { ...KEY, nbf: AT - HOUR, retired_at: AT + 3 * HOUR };

const CHAIN: Observation[] = [];
for (let n = 0; n < 3; n++) {
  const at = AT + n * HOUR;
  const seen = probe(HOST.hostname, at, { A: [`192.0.2.${n}`], NS: ['ns1.example.net'] }, certificate('a'));
  const seed = new Uint8Array(32).fill(n);
  const prev = CHAIN.at(-1)?.receipt_hash ?? null;
  CHAIN.push(observe({ record: recordOf(seen, HOST, at), seq: 2 * n + 1, prev, seed }, toolsAt(at)));
}
const newest = CHAIN[2] as Observation;
const bundle = evidenceOf(HOST.hostname, CHAIN.slice(0, 2), [DOOR]);
const page = {
  domain: HOST.hostname,
  items: CHAIN.map((one) => provenanceRow({ ...one, observed_at: Date.parse(one.record.observed_at) }, null)).reverse(),
  keys_url: 'https://records.example/.well-known/records-keys.json',
  total: 3,
  next_cursor: null,
};

function commandLine(text: string): string[] {
  const document = documentIn(text);
  return document === null ? ['it is no document'] : documentFaults(document, [DOOR], verifyNode);
}

async function browser(text: string): Promise<string[]> {
  const document = documentIn(text);
  if (document === null) return ['it is no document'];
  const listed = [{ ...DOOR, keyHash: keyHash(DOOR.name, DOOR.publicKey) }];
  const faults: string[] = [];
  for await (const outcome of checkDocument(document, { listed, from: 'the test' }, POLICY)) {
    if ('holds' in outcome && !outcome.holds) faults.push(...outcome.found);
  }
  return faults;
}

/** A site without a policy, which leaves open who signed a checkpoint. */
const POLICY = { address: '/log/policy', fetch: () => Promise.reject(new NotFetched('there is none')) };

/** What the auditor's rules say of the receipts alone, oldest first. */
const auditor = (receipts: string[]) => receiptChainFaults(receipts, [DOOR], verifyNode, false);

/** A document without what it names as unsigned, in one form: two that say the same are the same. */
function signedPart(text: string): string {
  const document = documentIn(text);
  if (document?.kind === 'receipt') return document.receipt;
  if (document?.kind === 'badge') return document.svg.replace(/<a href="[^"]*">/, '<a>');
  return canonicalize(withoutUnsigned(text)) ?? '';
}

function withoutUnsigned(text: string): Record<string, unknown> {
  return withoutMembers(JSON.parse(text), documentIn(text)?.unsigned ?? []);
}

/** What a row says, in one form: one from before there was a log has no such member. */
const saidBy = (row: object): string | undefined => canonicalize({ log: null, ...row });

const SAME: [name: string, text: string][] = [
  ['a receipt', newest.receipt],
  ['a badge', badgeOf(newest, 'https://records.example/t/x')],
  ['a preview', JSON.stringify(previewOf(newest))],
  ['a full record', JSON.stringify(fullRecordOf(newest))],
];

const MUTANTS = { numRuns: 200 };
const changes = fc.array(change, { minLength: 1, maxLength: 2 });

for (const [name, text] of SAME) {
  test(`${name}: all verifiers agree on any alteration, and accept it only where it says what was signed`, async () => {
    assert.deepEqual([commandLine(text), await browser(text)], [[], []], 'it holds as it is');
    await fc.assert(
      fc.asyncProperty(changes, async (made) => {
        const forged = altered(text, made);
        const [here, there] = [commandLine(forged), await browser(forged)];
        assert.equal(here.length > 0, there.length > 0, `command line: ${here.join()}; browser: ${there.join()}`);
        if (here.length === 0) assert.equal(signedPart(forged), signedPart(text), forged);
      }),
      MUTANTS,
    );
  });
}

test('an evidence bundle, however it is altered, is judged alike everywhere, and holds only as a beginning of the chain', async () => {
  const text = JSON.stringify(bundle);
  assert.deepEqual([commandLine(text), await browser(text)], [[], []], 'it holds as it is');
  const sound = bundle.records.map(saidBy);
  await fc.assert(
    fc.asyncProperty(changes, async (made) => {
      const forged = altered(text, made);
      const [here, there] = [commandLine(forged), await browser(forged)];
      assert.equal(here.length > 0, there.length > 0, `command line: ${here.join()}; browser: ${there.join()}`);
      if (here.length > 0) return;
      const { domain, records } = withoutUnsigned(forged) as unknown as Evidence;
      assert.equal(domain, HOST.hostname);
      assert.deepEqual(records.map(saidBy), sound.slice(0, records.length), forged);
      assert.deepEqual(auditor(records.map(({ receipt }) => receipt)), []);
    }),
    { numRuns: 160 },
  );
});

test('a page of provenance, however it is altered, is judged alike everywhere, and holds only as a part of the chain', async () => {
  const text = JSON.stringify(page);
  assert.deepEqual([commandLine(text), await browser(text)], [[], []], 'it holds as it is');
  const sound = page.items.map(saidBy);
  await fc.assert(
    fc.asyncProperty(changes, async (made) => {
      const forged = altered(text, made);
      const [here, there] = [commandLine(forged), await browser(forged)];
      assert.equal(here.length > 0, there.length > 0, `command line: ${here.join()}; browser: ${there.join()}`);
      if (here.length > 0) return;
      const { next_cursor } = JSON.parse(forged) as typeof page;
      const { items } = withoutUnsigned(forged) as unknown as typeof page;
      const said = items.map(saidBy);
      const start = sound.indexOf(said[0]);
      assert.deepEqual(said, sound.slice(start, start + said.length), forged);
      if (next_cursor === null) assert.equal(start + said.length, sound.length, 'the last page ends with the first');
      assert.deepEqual(auditor(items.map(({ receipt }) => receipt).reverse()), []);
    }),
    MUTANTS,
  );
});
