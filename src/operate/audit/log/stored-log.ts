import { sameBytes, toHex } from '../../../proof/bytes.ts';
import { verifyNode } from '../../../proof/ed25519.ts';
import { isSignedBy } from '../../../proof/keyring.ts';
import { EMPTY_EDGE, edgeRoot, growEdge, type TreeEdge } from '../../../proof/log/append.ts';
import { parseCheckpoint, type SignedCheckpoint } from '../../../proof/log/checkpoint.ts';
import { HASH_LENGTH } from '../../../proof/log/fields.ts';
import { type Leaf, type LogService, parseLeaf } from '../../../proof/log/leaf.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import { nodeCrypto } from '../../../proof/log/node-crypto.ts';
import { readVerifierKey, signedBy, WITNESS_TYPES } from '../../../proof/log/signatures.ts';
import { hashesAt, TILE_WIDTH, tilePath } from '../../../proof/log/tile.ts';
import { leafHash } from '../../../proof/merkle.ts';
import { messageOf } from '../../../shared/fault.ts';
import { pushAll } from '../../../shared/push-all.ts';
import type { LogCosignature, LogHead, LogTables } from '../../../shared/transparency/log-tables.ts';
import type { LogKey } from '../../../signing/log/log-key.ts';
import { keyLeafFault } from './leaf.ts';

/** The content of a log's leaves. */
export interface StoredLeaves {
  kinds: (Leaf['kind'] | 'unreadable')[];
  withdrawals: { index: number; paper: string; piece: string; at: string; reason: string }[];
}

/** Reads every leaf of a log. Appends to `faults` for malformed leaves and wrong hashes. */
export function storedLeaves(
  tables: LogTables,
  log: LogService,
  faults: string[],
  progress: (done: number, total: number) => void,
): StoredLeaves {
  const size = tables.size(log);
  const kinds = new Array<StoredLeaves['kinds'][number]>(size).fill('unreadable');
  const withdrawals: StoredLeaves['withdrawals'] = [];
  for (let start = 0; start < size; start += TILE_WIDTH) {
    const end = Math.min(size, start + TILE_WIDTH);
    const [entries, hashes] = [tables.entries(log, start, end), tables.leafHashes(log, start, end)];
    if (entries.length < end - start)
      faults.push(`${end - start - entries.length} of the leaves ${start} to ${end - 1} are missing`);
    for (const [at, entry] of entries.entries()) {
      const index = start + at;
      if (!sameBytes(hashes[at] ?? new Uint8Array(), leafHash(entry)))
        faults.push(`leaf ${index}: its hash is not that of its entry`);
      try {
        const leaf = parseLeaf(entry);
        kinds[index] = leaf.kind;
        if (leaf.kind === 'withdrawal') withdrawals.push({ index, ...leaf });
        const fault = keyLeafFault(leaf);
        if (fault !== null) faults.push(`leaf ${index}: ${fault}`);
      } catch (error) {
        faults.push(`leaf ${index}: ${messageOf(error)}`);
      }
    }
    progress(end, size);
  }
  return { kinds, withdrawals };
}

/** Leaves hashed per batch. */
const BATCH = 16 * TILE_WIDTH;

/** A cosignature to verify after the database was read, because that takes time. */
interface StoredCosignature extends LogCosignature {
  checkpoint: string;
}

/**
 * Rebuilds a log's tree and compares nodes and heads with it. Appends to `faults`. Returns the cosignatures of all
 * heads.
 */
export function headFaults(tables: LogTables, log: LogService, key: LogKey | null, faults: string[]) {
  const total = tables.size(log);
  const last = tables.lastHead(log)?.size ?? 0;
  const cosignatures: StoredCosignature[] = [];
  let edge = EMPTY_EDGE;
  for (const head of tables.heads(log)) {
    const what = `head ${head.number} of ${head.size} leaves`;
    if (head.size > total || head.size < edge.size) {
      faults.push(`${what}: ${head.size > total ? `the log has ${total}` : 'an earlier head is larger'}`);
      continue;
    }
    edge = grown(tables, log, edge, head.size, last, faults);
    faults.push(...oneHeadFaults(head, edge, key).map((fault) => `${what}: ${fault}`));
    const own = tables
      .cosignatures(log, head.origin, head.size)
      .map((one) => ({ ...one, checkpoint: head.checkpoint }));
    faults.push(...cosignedFaults(head, own).map((fault) => `${what}: ${fault}`));
    pushAll(cosignatures, own);
  }
  grown(tables, log, edge, total, last, faults);
  return cosignatures;
}

/** Appends the leaves up to `size`. Compares the nodes above them that the head of `last` leaves needs. */
function grown(tables: LogTables, log: LogService, from: TreeEdge, size: number, last: number, faults: string[]) {
  const read = tables.tiles(log);
  let edge = from;
  while (edge.size < size) {
    const hashes = tables.leafHashes(log, edge.size, Math.min(size, edge.size + BATCH));
    // Missing leaves have been reported already.
    if (hashes.length === 0) return edge;
    const { edge: next, tiles } = growEdge(edge, hashes);
    for (const { tile, bytes } of tiles) {
      if (tile.level === 0) continue;
      const stored = read(tile);
      const needed = Math.min(tile.width, hashesAt(tile.level, last) - tile.index * TILE_WIDTH) * HASH_LENGTH;
      if (stored.length < needed || !sameBytes(stored, bytes.subarray(0, stored.length))) {
        faults.push(`${tilePath(tile)}: the stored nodes are not those of the leaves`);
      }
    }
    edge = next;
  }
  return edge;
}

function oneHeadFaults(head: LogHead, edge: TreeEdge, key: LogKey | null): string[] {
  let checkpoint: SignedCheckpoint;
  try {
    checkpoint = parseCheckpoint(head.checkpoint);
  } catch (error) {
    return [messageOf(error)];
  }
  const faults: string[] = [];
  if (checkpoint.origin !== head.origin || checkpoint.size !== head.size) {
    faults.push(`its checkpoint is of ${checkpoint.origin} with ${checkpoint.size} leaves`);
  }
  if (edge.size === head.size && !sameBytes(checkpoint.root, edgeRoot(edge))) {
    faults.push(`its root is not that of the leaves, ${toHex(edgeRoot(edge))}`);
  }
  if (key?.origin === head.origin && !isSignedBy(checkpoint.note, key.signer, verifyNode)) {
    faults.push('it is not signed by the key of the log');
  }
  return faults;
}

/** The faults of a head's cosigned text, which must be the checkpoint followed by stored cosignatures. */
function cosignedFaults({ checkpoint, cosigned }: LogHead, cosignatures: StoredCosignature[]): string[] {
  if (cosigned === null) return [];
  if (!cosigned.startsWith(checkpoint)) return ['its cosigned text belongs to another checkpoint'];
  const lines = new Set(cosignatures.map(({ line }) => line));
  const added = cosigned.slice(checkpoint.length).split('\n').slice(0, -1);
  return added
    .filter((line) => !lines.has(line))
    .map((line) => `its cosigned text has a line that is not stored: ${line}`);
}

/** The faults of cosignatures. */
export async function cosignatureFaults(cosignatures: StoredCosignature[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { vkey, time, line, size, checkpoint } of cosignatures) {
    const what = `the cosignature of ${vkey.split('+')[0]} for ${size} leaves`;
    try {
      const key = readVerifierKey(vkey, WITNESS_TYPES);
      const signed = await signedBy(parseCheckpoint(`${checkpoint}${line}\n`), key, nodeCrypto);
      if (signed.by === 'nobody') faults.push(`${what} is not by that key`);
      else if (signed.by === 'key' && signed.time !== time) faults.push(`${what} is of another time than is stored`);
    } catch (error) {
      if (!(error instanceof LogFault)) throw error;
      faults.push(`${what}: ${error.message}`);
    }
  }
  return faults;
}
