import { Fault, messageOf } from '../../fault.ts';
import { sameBytes, toBase64 } from '../../ledger/bytes.ts';
import { CHECKPOINT_MAX, parseCheckpoint, type SignedCheckpoint } from '../../ledger/log/checkpoint.ts';
import type { Leaf } from '../../ledger/log/leaf.ts';
import { LogFault } from '../../ledger/log/log-fault.ts';
import { nodeCrypto } from '../../ledger/log/node-crypto.ts';
import type { Policy } from '../../ledger/log/policy.ts';
import type { HashTile } from '../../ledger/log/tile.ts';
import { tileOf, tilePath } from '../../ledger/log/tile.ts';
import { EMPTY_EDGE, edgeRoot, growEdge } from '../../ledger/log/tree-edge.ts';
import { verifyCheckpoint } from '../../ledger/log/verify-checkpoint.ts';
import { leafHash } from '../../ledger/merkle.ts';
import { type CosignedBy, cosignedBy } from './cosigned-by.ts';
import { keyLeafFault } from './key-leaf.ts';
import { leafIn } from './leaf-in.ts';
import { isMissing, type LogSource } from './log-source.ts';
import { entriesFrom, hashesOf } from './served-tiles.ts';

/** The faults of one log that are reported; the reading ends there. */
const FAULTS_MAX = 100;

/** A published log that was read from its first entry to its last. */
export interface CheckedLog {
  /** Its folder or address. */
  log: string;
  origin: string;
  size: number;
  /** Base64. */
  root: string;
  /** Number of leaves of each kind. */
  leaves: Partial<Record<Leaf['kind'], number>>;
  /** The policy's witnesses that cosigned the checkpoint, each with its time; null when no policy was given. */
  cosigned_by: CosignedBy[] | null;
  faults: string[];
}

/**
 * Reads a whole log: every entry is a leaf in its form, the entries give the tiles and the checkpoint's root, and the
 * policy accepts the checkpoint. Its memory does not depend on the size of the log. Throws a Fault when the log has no
 * checkpoint or cannot be read to its end.
 */
export async function verifyLog(
  source: LogSource,
  policy: Policy | null,
  progress: (done: number, total: number) => void = () => {},
): Promise<CheckedLog> {
  const text = Buffer.from(await source.read('checkpoint', CHECKPOINT_MAX)).toString('utf8');
  const checkpoint = checkpointIn(source, text);
  const { origin, size, root } = checkpoint;
  const checked: CheckedLog = {
    log: source.where,
    origin,
    size,
    root: toBase64(root),
    leaves: {},
    cosigned_by: null,
    faults: [],
  };
  if (policy !== null) await checkPolicy(text, policy, checked);
  await readAll(source, checkpoint, checked, progress);
  return checked;
}

function checkpointIn(source: LogSource, text: string): SignedCheckpoint {
  try {
    return parseCheckpoint(text);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    throw new Fault('invalid_request', `${source.where} is not a log: ${error.message}`);
  }
}

async function checkPolicy(text: string, policy: Policy, checked: CheckedLog): Promise<void> {
  try {
    const { cosigners } = await verifyCheckpoint(text, policy, nodeCrypto);
    checked.cosigned_by = cosignedBy(cosigners);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    checked.faults.push(error.message);
  }
}

async function readAll(
  source: LogSource,
  { size, root }: SignedCheckpoint,
  checked: CheckedLog,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const { faults } = checked;
  let edge = EMPTY_EDGE;
  try {
    for await (const { start, entries } of entriesFrom(source, 0, size)) {
      for (const [at, entry] of entries.entries()) countLeaf(start + at, entry, checked);
      const grown = growEdge(edge, entries.map(leafHash));
      edge = grown.edge;
      for (const { tile, bytes } of grown.tiles) {
        // A tile that later entries widen is compared when it is as wide as the checkpoint's tree has it.
        if (tile.width === tileOf(tile.level, tile.index, size).width) await compareTile(source, tile, bytes, faults);
      }
      if (faults.length >= FAULTS_MAX) {
        faults.push(`the reading ended after ${faults.length} faults, at leaf ${edge.size} of ${size}`);
        return;
      }
      progress(edge.size, size);
    }
  } catch (error) {
    // A log without one of its files is a faulty one; a server that does not answer says nothing about it.
    if (!(error instanceof LogFault) && !isMissing(error)) throw error;
    faults.push(`the leaves from ${edge.size} on cannot be read: ${messageOf(error)}`);
    return;
  }
  if (!sameBytes(edgeRoot(edge), root)) faults.push(`the ${size} leaves do not give the checkpoint's root`);
}

function countLeaf(index: number, entry: Uint8Array, { leaves, faults }: CheckedLog): void {
  try {
    const leaf = leafIn(entry);
    leaves[leaf.kind] = (leaves[leaf.kind] ?? 0) + 1;
    const fault = keyLeafFault(leaf);
    if (fault !== null) faults.push(`leaf ${index}: ${fault}`);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    faults.push(`leaf ${index}: ${error.message}`);
  }
}

async function compareTile(source: LogSource, tile: HashTile, bytes: Uint8Array, faults: string[]): Promise<void> {
  try {
    if (!sameBytes(await hashesOf(source, tile), bytes)) {
      faults.push(`${tilePath(tile)} has other hashes than the entries below it`);
    }
  } catch (error) {
    if (!(error instanceof LogFault) && !isMissing(error)) throw error;
    faults.push(messageOf(error));
  }
}
