import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCheckpoint } from '../../../src/proof/log/checkpoint.ts';
import { LogFault } from '../../../src/proof/log/log-fault.ts';
import { nodeCrypto } from '../../../src/proof/log/node-crypto.ts';
import { readVerifierKey, WITNESS_TYPES } from '../../../src/proof/log/signatures.ts';
import {
  cosignedAt,
  readAddCheckpointAnswer,
  sizeToProveFrom,
  WitnessAhead,
} from '../../../src/signing/log/witness.ts';
import { ed25519Witness, MemoryLog, mldsa44Witness } from '../../support/log.ts';

const NOW = 1_795_000_000;
const log = new MemoryLog();
log.append(['a', 'b', 'c']);
const checkpoint = log.checkpoint();
const witness = ed25519Witness('witness.example/w1', 4);
const other = ed25519Witness('witness.example/w2', 5);
const quantum = mldsa44Witness('witness.example/w3', 6);

/** When the answer of these lines was cosigned, as far as this witness' key says. */
function accept(signed: string, vkey = witness.vkey, crypto = nodeCrypto): Promise<number> {
  const answer = readAddCheckpointAnswer(200, 'text/plain', signed.slice(checkpoint.length));
  assert(answer.kind === 'cosigned');
  return cosignedAt(
    answer.lines,
    parseCheckpoint(checkpoint),
    readVerifierKey(vkey, WITNESS_TYPES),
    NOW * 1_000,
    crypto,
  );
}

test('a cosignature is accepted by its own key, and lines by others are ignored', async () => {
  assert.equal(await accept(witness.cosign(checkpoint, NOW)), NOW);
  assert.equal(await accept(other.cosign(witness.cosign(checkpoint, NOW - 9), NOW)), NOW - 9);
  assert.equal(await accept(quantum.cosign(checkpoint, NOW), quantum.vkey), NOW);
});

const REFUSED: [claim: string, signed: string, words: string][] = [
  [
    'of another witness',
    other.cosign(checkpoint, NOW),
    'not signed by "witness.example/w1" but by "witness.example/w2"',
  ],
  [
    'of a time to come',
    witness.cosign(checkpoint, NOW + 301),
    'is of 2026-11-18T11:11:41.000Z, and it is 2026-11-18T11:06:40',
  ],
  ['without a time', witness.cosign(checkpoint, 0), 'has no time'],
];
for (const [claim, signed, words] of REFUSED) {
  test(`a cosignature ${claim} is refused`, async () => {
    await assert.rejects(accept(signed), (fault) => {
      assert(fault instanceof LogFault);
      assert(fault.message.includes(words), fault.message);
      return true;
    });
  });
}

test('a cosignature of another checkpoint is refused', async () => {
  const shorter = log.checkpoint(2);
  const line = witness.cosign(shorter, NOW).slice(shorter.length);
  await assert.rejects(accept(checkpoint + line), /a wrong signature by "witness\.example\/w1"/);
});

test('a platform without ML-DSA-44 says so', async () => {
  const signed = quantum.cosign(checkpoint, NOW);
  await assert.rejects(accept(signed, quantum.vkey, { ...nodeCrypto, mldsa44: null }), /which cannot be checked here/);
});

test('a conflict is answered with a proof from where the witness is', () => {
  assert.equal(sizeToProveFrom(2, 3, 0), 2);
  assert.equal(sizeToProveFrom(3, 3, 3), 3);
  assert.equal(sizeToProveFrom(0, 3, 0), 0);
});

test('a witness that reports a larger tree than exists, or a smaller one than before, prevents signing', () => {
  assert.throws(() => sizeToProveFrom(4, 3, 0), WitnessAhead);
  assert.throws(
    () => sizeToProveFrom(1, 3, 2),
    (fault) =>
      fault instanceof LogFault &&
      !(fault instanceof WitnessAhead) &&
      /1 leaves, after it had seen 2/.test(fault.message),
  );
});
