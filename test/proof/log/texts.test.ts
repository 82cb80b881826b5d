import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCheckpoint } from '../../../src/proof/log/checkpoint.ts';
import { leafText, parseLeaf } from '../../../src/proof/log/leaf.ts';
import { LogFault } from '../../../src/proof/log/log-fault.ts';
import { parseTlogProof, tlogProofText } from '../../../src/proof/log/log-proof.ts';
import { nodeCrypto } from '../../../src/proof/log/node-crypto.ts';
import { parsePolicy, policyText } from '../../../src/proof/log/policy.ts';
import {
  entryBundle,
  parseTilePath,
  readEntryBundle,
  readTile,
  TILE_WIDTH,
  type Tile,
  tilePath,
} from '../../../src/proof/log/tile.ts';
import { verifyTlogProof } from '../../../src/proof/log/verify.ts';
import { addCheckpointBody, readAddCheckpointAnswer } from '../../../src/signing/log/witness.ts';
import { ed25519Witness, MemoryLog } from '../../support/log.ts';
import * as fc from '../../support/properties.ts';

const HASH = `sha256:${'ab'.repeat(32)}`;
const log = new MemoryLog();
log.append(Array.from({ length: 300 }, (_, at) => `entry ${at}`));
const witness = ed25519Witness('witness.example/w1', 4);
const cosigned = witness.cosign(log.checkpoint(), 1_795_000_000);
const policy = parsePolicy(`log ${log.vkey}\nwitness one ${witness.vkey}\nquorum one\n`);
const proof = tlogProofText({ index: 257, path: log.tree().inclusionProof(257), checkpoint: cosigned, extra: null });

/** What a reader makes of a text: null when it refuses it, with one line. */
function refusedOr<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (fault) {
    assert(fault instanceof LogFault, String(fault));
    assert(!/[\r\n]/.test(fault.message) && fault.message.length < 500, fault.message);
    return null;
  }
}

/** A text of which a few characters are other ones, lost or repeated. */
function altered(text: string): fc.Arbitrary<string> {
  const put = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 2 }), fc.constantFrom('\n', ' ', '0', '=', '+', '\0'));
  return fc
    .tuple(fc.nat(text.length), fc.nat(3), put)
    .map(([at, lost, more]) => text.slice(0, at) + more + text.slice(at + lost));
}

test('the path of a tile is read back, and no other path is the same tile', () => {
  const tile: fc.Arbitrary<Tile> = fc.record({
    level: fc.oneof(fc.constant('entries' as const), fc.nat(63)),
    index: fc.oneof(fc.nat(2_000), fc.nat({ max: Number.MAX_SAFE_INTEGER })),
    width: fc.integer({ min: 1, max: TILE_WIDTH }),
  });
  fc.assert(
    fc.property(tile, (given) => {
      assert.deepEqual(parseTilePath(tilePath(given)), { ...given });
    }),
  );
  fc.assert(
    fc.property(
      tile.chain((given) => altered(tilePath(given))),
      (path) => {
        const read = refusedOr(() => parseTilePath(path));
        if (read !== null) assert.equal(tilePath(read), path);
      },
    ),
    { numRuns: 500 },
  );
});

test('entries round-trip through their bundle, and an altered bundle differs or is invalid', () => {
  const entries = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: TILE_WIDTH });
  fc.assert(
    fc.property(entries, fc.nat(), fc.nat(255), (given, n, byte) => {
      const tile: Tile = { level: 'entries', index: 0, width: given.length };
      const bytes = entryBundle(given);
      assert.deepEqual(readEntryBundle(tile, bytes), given);
      const other = bytes.with(n % bytes.length, byte);
      const read = refusedOr(() => readEntryBundle(tile, other));
      if (read !== null) assert.deepEqual(entryBundle(read), other);
      assert.equal(
        refusedOr(() => readEntryBundle(tile, bytes.subarray(1))),
        null,
      );
      assert.equal(
        refusedOr(() => readEntryBundle({ ...tile, width: given.length + 1 }, bytes)),
        null,
      );
    }),
  );
  assert.throws(() => entryBundle([new Uint8Array(65_536)]), RangeError);
  const longest = new Uint8Array(65_535).fill(7);
  assert.deepEqual(readEntryBundle({ level: 'entries', index: 0, width: 1 }, entryBundle([longest])), [longest]);
});

test('a tile has exactly the hashes of its width', () => {
  const tile = { level: 0, index: 1, width: 44 };
  assert.equal(readTile(tile, log.file(tile)).length, 44);
  for (const bytes of [new Uint8Array(), new Uint8Array(44 * 32 - 1), new Uint8Array(45 * 32)]) {
    assert.equal(
      refusedOr(() => readTile(tile, bytes)),
      null,
    );
  }
});

test('a changed checkpoint, proof, leaf or policy is either rejected or written back as read', async () => {
  const leaf = leafText({ kind: 'withdrawal', paper: 'a', piece: 'b', at: '2026-11-22T07:06:00.000Z', reason: HASH });
  fc.assert(
    fc.property(altered(leaf), (text) => {
      const read = refusedOr(() => parseLeaf(text));
      if (read !== null && !('note' in read)) assert.equal(leafText(read), text);
    }),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(altered(policyText(policy)), (text) => {
      const read = refusedOr(() => parsePolicy(text));
      if (read !== null) assert.deepEqual(parsePolicy(policyText(read)), read);
    }),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(altered(proof), (text) => {
      const read = refusedOr(() => parseTlogProof(text));
      if (read === null) return;
      assert.equal(tlogProofText({ ...read, checkpoint: read.checkpointText }), text);
    }),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(altered(cosigned), (text) => {
      const read = refusedOr(() => parseCheckpoint(text));
      if (read !== null) assert(text.startsWith(`${read.origin}\n${read.size}\n`));
    }),
    { numRuns: 1_000 },
  );
});

test('a valid proof verifies; an altered one only where the change is unsigned', async () => {
  const verified = await verifyTlogProof('entry 257', proof, policy, nodeCrypto);
  assert.equal(verified.index, 257);
  await fc.assert(
    fc.asyncProperty(altered(proof), async (text) => {
      const held = await verifyTlogProof('entry 257', text, policy, nodeCrypto).catch((fault) => {
        assert(fault instanceof LogFault, String(fault));
        return null;
      });
      // An extra line, or a signature line by a name that nobody knows, says nothing.
      if (held === null || text === proof) return;
      assert.equal(held.index, 257);
      assert.deepEqual(parseTlogProof(text).path, parseTlogProof(proof).path);
      assert.equal(held.checkpoint.note.text, verified.checkpoint.note.text);
    }),
    { numRuns: 300 },
  );
});

test('a request says what it is about, for a body of any size', () => {
  const body = addCheckpointBody(44, log.tree().consistencyProof(44), cosigned);
  assert.match(body, /^old 44\n(?:[A-Za-z0-9+/]{43}=\n)+\npapers\.example\/log\n300\n/);
});

test('oversized input is rejected with its limit', () => {
  const many = 'x'.repeat(70_000);
  for (const [read, words] of [
    [() => parseCheckpoint(`${many}${many}\n`), 'more than 131072 characters'],
    [() => parseTlogProof(`${many}${many}\n`), 'more than 139264 characters'],
    [() => parsePolicy(many.repeat(4)), 'more than 262144 characters'],
    [() => parseLeaf(`receipt-hash/v1\n${many}\n`), 'at most 65535 bytes'],
    [() => readAddCheckpointAnswer(200, null, many), 'more than 65536 characters'],
  ] as const) {
    assert.throws(read, (fault) => fault instanceof LogFault && fault.message.includes(words));
  }
  // What a witness says with a refusal is cut.
  assert.throws(() => readAddCheckpointAnswer(500, null, many), /^LogFault: the witness answered 500: "x{80}…"; /);
});

test('a leaf of a value that is not of its form is not made', () => {
  assert.throws(() => leafText({ kind: 'receipt-hash', hash: 'ab' }), TypeError);
  const withdrawal = { kind: 'withdrawal', paper: 'a\npiece b', piece: 'b', at: '', reason: HASH } as const;
  assert.throws(() => leafText(withdrawal), TypeError);
});
