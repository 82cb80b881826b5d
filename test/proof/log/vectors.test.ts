import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { verifyEd25519 } from '../../../packages/verify/src/ed25519.ts';
import { verifyNode } from '../../../src/proof/ed25519.ts';
import { vkeyFields } from '../../../src/proof/key-text.ts';
import { parseCheckpoint } from '../../../src/proof/log/checkpoint.ts';
import { isConsistent } from '../../../src/proof/log/consistency.ts';
import { leafText, parseLeaf } from '../../../src/proof/log/leaf.ts';
import { LogFault } from '../../../src/proof/log/log-fault.ts';
import { nodeCrypto, readPolicy } from '../../../src/proof/log/node-crypto.ts';
import { meetsQuorum, parsePolicy, policyText } from '../../../src/proof/log/policy.ts';
import { type LogCrypto, readVerifierKey, signedBy } from '../../../src/proof/log/signatures.ts';
import { entryBundle, parseTilePath, readEntryBundle, type Tile, tilePath } from '../../../src/proof/log/tile.ts';
import { verifyTlogProof } from '../../../src/proof/log/verify.ts';
import { addCheckpointBody, readAddCheckpointAnswer } from '../../../src/signing/log/witness.ts';

// A vector's file name is the claim it makes; make-vectors.ts writes them. An invalid one says with which words it is refused.

const VECTORS = new URL('../../vectors/log/', import.meta.url);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

interface HeadVector {
  size: number;
  root: string;
}

/** Reads a vector of its kind, and holds what it says of itself. Throws for one that is refused. */
const kinds: Record<string, (vector: never, crypto: LogCrypto) => unknown> = {
  'tile-path'({ path, tile }: { path: string; tile: Tile }) {
    const parsed = parseTilePath(path);
    assert.deepEqual(parsed, tile);
    assert.equal(tilePath(parsed), path);
  },
  bundle(vector: { base64: string; entries?: string[]; width?: number }) {
    const tile: Tile = { level: 'entries', index: 0, width: vector.width ?? vector.entries?.length ?? 0 };
    const entries = readEntryBundle(tile, bytesOf(vector.base64));
    assert.deepEqual(
      entries.map((entry) => new TextDecoder().decode(entry)),
      vector.entries,
    );
    assert.equal(base64(entryBundle(entries)), vector.base64);
  },
  checkpoint({ text, ...vector }: { text: string; checkpoint: HeadVector & { origin: string }; signed_by: string[] }) {
    const { origin, size, root, note } = parseCheckpoint(text);
    assert.deepEqual({ origin, size, root: base64(root) }, vector.checkpoint);
    assert.deepEqual(
      note.signatures.map(({ name }) => name),
      vector.signed_by,
    );
  },
  async cosignature({ checkpoint, ...vector }: { checkpoint: string; vkey: string; time: number | null }, crypto) {
    const { type } = vkeyFields(vector.vkey) ?? { type: 0 };
    const signed = await signedBy(parseCheckpoint(checkpoint), readVerifierKey(vector.vkey, [type]), crypto);
    if (signed.by === 'nobody') throw new LogFault('it is signed by nobody');
    assert.deepEqual(signed, { by: 'key', time: vector.time });
  },
  consistency({ old, head, proof }: { old: HeadVector; head: HeadVector; proof: string[] }) {
    const [before, after] = [old, head].map(({ size, root }) => ({ size, root: bytesOf(root) }));
    assert(before !== undefined && after !== undefined);
    if (!isConsistent(before, after, proof.map(bytesOf))) throw new LogFault('they are not consistent');
  },
  leaf({ entry, leaf }: { entry: string; leaf: Record<string, unknown> }) {
    const parsed = parseLeaf(entry);
    assert.partialDeepStrictEqual(parsed, leaf);
    assert.equal('note' in parsed ? parsed.note : leafText(parsed), entry);
  },
  policy({ policy: text, met, unmet }: { policy: string; met: string[][]; unmet: string[][] }) {
    const policy = readPolicy(text);
    assert.deepEqual(parsePolicy(policyText(policy)), policy);
    for (const names of met) assert(meetsQuorum(policy, new Set(names)), names.join(' '));
    for (const names of unmet) assert(!meetsQuorum(policy, new Set(names)), names.join(' '));
  },
  async proof({ entry, proof, policy, ...vector }: ProofVector, crypto) {
    const verified = await verifyTlogProof(entry, proof, parsePolicy(policy), crypto);
    assert.equal(verified.index, vector.index);
    const cosigners = verified.cosigners.map(({ witness, time }) => [witness.name, time]);
    assert.deepEqual(Object.fromEntries(cosigners), vector.cosigners);
    assert.deepEqual(verified.unchecked, []);
  },
  request({ old, proof, checkpoint, body }: { old: number; proof: string[]; checkpoint: string; body: string }) {
    assert.equal(addCheckpointBody(old, proof.map(bytesOf), checkpoint), body);
  },
  answer({ status, type, body, ...vector }: AnswerVector) {
    const answer = readAddCheckpointAnswer(status, type, body);
    if (answer.kind === 'conflict') return assert.equal(answer.size, vector.size);
    assert.deepEqual(
      answer.lines.map(({ name }) => name),
      vector.signed_by,
    );
  },
};

interface ProofVector {
  entry: string;
  proof: string;
  policy: string;
  index: number;
  cosigners: Record<string, number>;
}

interface AnswerVector {
  status: number;
  type: string | null;
  body: string;
  size?: number;
  signed_by?: string[];
}

/** What Node has, and what a browser has: they must agree on every vector. */
const PLATFORMS: [string, LogCrypto][] = [
  ['Node', nodeCrypto],
  ['a browser', { sha256, ed25519: verifyEd25519, mldsa44: nodeCrypto.mldsa44 }],
];

test('Node has what it checks logs with', () => {
  assert.equal(nodeCrypto.ed25519, verifyNode);
  assert.notEqual(nodeCrypto.mldsa44, null);
});

for (const validity of ['valid', 'invalid']) {
  for (const kind of readdirSync(new URL(validity, VECTORS)).sort()) {
    const check = kinds[kind];
    assert(check !== undefined, `there is no kind ${kind}`);
    const folder = new URL(`${validity}/${kind}/`, VECTORS);
    for (const name of readdirSync(folder).sort()) {
      test(`${kind}, ${validity}: ${basename(name, '.json').replaceAll('-', ' ')}`, async () => {
        const vector = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { fault?: string };
        for (const [platform, crypto] of PLATFORMS) {
          const reading = async (): Promise<unknown> => await check(vector as never, crypto);
          if (validity === 'valid') {
            await reading();
            continue;
          }
          await assert.rejects(reading, (fault) => {
            assert(fault instanceof LogFault, String(fault));
            assert(fault.message.includes(vector.fault ?? ''), `${platform}: ${fault.message}`);
            assert(!/[\r\n]/.test(fault.message) && fault.message.length < 400, 'it is one line');
            return true;
          });
        }
      });
    }
  }
}
