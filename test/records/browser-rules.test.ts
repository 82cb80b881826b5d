import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { keysFromVkeys } from '../../src/ledger/proof.ts';
import { keyHash } from '../../src/ledger/verifier-key.ts';
import { previewChecks, recordRootFaults } from '../../src/parts/client/records/answers.ts';
import { chainChecks } from '../../src/parts/client/records/chains.ts';
import { receiptChecks, see } from '../../src/parts/client/records/receipts.ts';
import type { Check } from '../../src/parts/client/verify/check.ts';
import type { FullRecord, Preview } from '../../src/records/preview.ts';

// The modules that a reader's browser runs, on noble and WebCrypto, judge every vector as the auditor does.

interface Vector {
  keys?: { vkey: string; nbf: string; retired_at: string | null }[];
  text?: string;
  record?: FullRecord;
  preview?: Preview;
  chain?: string[];
  whole?: boolean;
}

const FOLDER = new URL('../vectors/observation/', import.meta.url);
const vectors = ['valid', 'invalid'].flatMap((kind) =>
  readdirSync(new URL(kind, FOLDER)).map((name) => ({
    name,
    isValid: kind === 'valid',
    vector: JSON.parse(readFileSync(new URL(`${kind}/${name}`, FOLDER), 'utf8')) as Vector,
  })),
);

async function failed(checks: AsyncGenerator<Check, unknown>): Promise<string[]> {
  const faults: string[] = [];
  // A vector's preview is its proof alone: what a whole answer says beside it is not there.
  const beside = ['It is of the receipt’s observation', 'It says how much it holds back'];
  for (let step = await checks.next(); step.done !== true; step = await checks.next()) {
    const { title, holds, found } = step.value;
    if (!holds && !beside.includes(title)) faults.push(...found);
  }
  return faults;
}

async function faultsIn({ keys: listed = [], record, preview, chain, whole }: Vector): Promise<string[]> {
  const read = listed.flatMap(({ vkey, nbf, retired_at }) =>
    keysFromVkeys([vkey]).map((key) => ({
      ...key,
      keyHash: keyHash(key.name, key.publicKey),
      nbf: Date.parse(nbf),
      retired_at: retired_at === null ? null : Date.parse(retired_at),
    })),
  );
  const keys = { listed: read, from: 'the vector' };
  if (record !== undefined) {
    const seen = await see(record.receipt, keys);
    return [...(await failed(receiptChecks(record.receipt, keys))), ...(await recordRootFaults(record, seen))];
  }
  if (preview !== undefined) {
    return failed(previewChecks({ ...preview, held_back: { fields: 0, how: '' } }, keys));
  }
  const domain = /\ndomain (\S+)\n/.exec(chain?.[0] ?? '')?.[1] ?? '';
  return failed(chainChecks(chain ?? [], domain, keys, whole ?? false));
}

test('the browser’s modules judge every vector as it is named', async () => {
  const judged = vectors.filter(({ vector }) => vector.text === undefined);
  assert.ok(judged.length > 40, `${judged.length} vectors`);
  for (const { name, isValid, vector } of judged) {
    const faults = await faultsIn(vector);
    assert.equal(faults.length === 0, isValid, `${name}: ${faults.join('; ')}`);
  }
});

test('a text that is no receipt is told so', async () => {
  for (const { name, isValid, vector } of vectors) {
    if (vector.text === undefined) continue;
    // A text without a signature cannot hold; only its form is asked about here.
    const line = `\n— a ${Buffer.alloc(68, 1).toString('base64')}\n`;
    const { receipt } = await see(vector.text + line, { listed: [], from: 'nowhere' });
    assert.equal(receipt !== null, isValid, name);
  }
});
