import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { verifyEd25519 } from '../../packages/verify/src/ed25519.ts';
import { checkDocument } from '../../src/parts/client/records/check-document.ts';
import type { Keys } from '../../src/parts/client/records/receipts.ts';
import { NotFetched } from '../../src/parts/client/verify/fetched.ts';
import { jwks, keysOf as keysIn } from '../../src/proof/keyring.ts';
import { keysFromVkeys } from '../../src/proof/proof.ts';
import type { FullRecord, Preview } from '../../src/proof/records/preview.ts';
import { checkReceipt, rootOfAll, rootsOfPaths } from '../../src/proof/records/verify/document-faults.ts';
import { allFieldRules, chainRules, shownFieldRules } from '../../src/proof/records/verify/document-rules.ts';
import { documentIn } from '../../src/proof/records/verify/documents.ts';
import { receiptRules } from '../../src/proof/records/verify/observation-rules.ts';
import { KEY } from '../support/probes.ts';

// What a reader's browser runs judges every vector as its name says, by noble.

interface Vector {
  keys?: { vkey: string; nbf: string; retired_at: string | null }[];
  text?: string;
  record?: FullRecord;
  preview?: Preview;
  chain?: string[];
  whole?: boolean;
}

const vectorsOf = (folder: URL) =>
  ['valid', 'invalid'].flatMap((kind) =>
    readdirSync(new URL(kind, folder)).map((name) => ({
      name,
      isValid: kind === 'valid',
      vector: JSON.parse(readFileSync(new URL(`${kind}/${name}`, folder), 'utf8')) as Vector,
    })),
  );
const vectors = vectorsOf(new URL('../vectors/observation/', import.meta.url));

function keysOf(listed: NonNullable<Vector['keys']>): Keys {
  const read = listed.flatMap(({ vkey, nbf, retired_at }) =>
    keysFromVkeys([vkey]).map((key) => ({
      ...key,
      nbf: Date.parse(nbf),
      retired_at: retired_at === null ? null : Date.parse(retired_at),
    })),
  );
  return { listed: read, from: 'the vector' };
}

function faultsIn({ keys: listed = [], record, preview, chain, whole }: Vector): string[] {
  const keys = keysOf(listed).listed;
  const text = record?.receipt ?? preview?.receipt;
  if (text === undefined) {
    const seen = (chain ?? []).map((receipt) => checkReceipt(receipt, keys, verifyEd25519));
    return [...seen.flatMap(receiptRules), ...chainRules(seen, seen[0]?.receipt?.domain ?? '', whole ?? false)];
  }
  const seen = checkReceipt(text, keys, verifyEd25519);
  const { receipt } = seen;
  if (receipt === null) return receiptRules(seen);
  const fields =
    record === undefined
      ? shownFieldRules(preview?.disclosures ?? [], receipt, rootsOfPaths(preview?.disclosures ?? [], seen))
      : allFieldRules(record.disclosures, receipt, rootOfAll(record.disclosures));
  return [...receiptRules(seen), ...fields];
}

test('the browser’s modules agree with the name of every vector', () => {
  const judged = vectors.filter(({ vector }) => vector.text === undefined);
  assert.ok(judged.length > 40, `${judged.length} vectors`);
  for (const { name, isValid, vector } of judged) {
    const faults = faultsIn(vector);
    assert.equal(faults.length === 0, isValid, `${name}: ${faults.join('; ')}`);
  }
});

test('a text that is not a receipt is reported', () => {
  for (const { name, isValid, vector } of vectors) {
    if (vector.text === undefined) continue;
    // A text without a signature cannot hold; only its form is asked about here.
    const line = `\n— a ${Buffer.alloc(68, 1).toString('base64')}\n`;
    const { receipt } = checkReceipt(vector.text + line, [], verifyEd25519);
    assert.equal(receipt !== null, isValid, name);
  }
});

/** A site without a policy, which leaves open who signed a checkpoint. */
const POLICY = { address: '/log/policy', fetch: () => Promise.reject(new NotFetched('there is none')) };

test('the browser’s checks agree with the name of every document', async () => {
  const documents = vectorsOf(new URL('../vectors/document/', import.meta.url));
  assert.ok(documents.length > 40, `${documents.length} vectors`);
  for (const { name, isValid, vector } of documents) {
    const document = documentIn(vector.text ?? '');
    assert.ok(document !== null, name);
    const faults: string[] = [];
    for await (const outcome of checkDocument(document, keysOf(vector.keys ?? []), POLICY)) {
      if ('holds' in outcome && !outcome.holds) faults.push(...outcome.found);
    }
    assert.equal(faults.length === 0, isValid, `${name}: ${faults.join('; ')}`);
  }
});

test('a key with a time outside the range of dates is invalid', () => {
  for (const nbf of [1e13, -1e13, Number.POSITIVE_INFINITY]) {
    const document = { keys: jwks([KEY]).keys.map((key) => ({ ...key, nbf })) };
    assert.deepEqual(keysIn(document), []);
  }
});
