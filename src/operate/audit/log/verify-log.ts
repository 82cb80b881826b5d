import { sameBytes, toBase64 } from '../../../proof/bytes.ts';
import { EMPTY_EDGE, edgeRoot, growEdge } from '../../../proof/log/append.ts';
import { CHECKPOINT_MAX, parseCheckpoint, type SignedCheckpoint } from '../../../proof/log/checkpoint.ts';
import type { Leaf } from '../../../proof/log/leaf.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import { type CosignedBy, cosignedBy } from '../../../proof/log/logged.ts';
import { nodeCrypto } from '../../../proof/log/node-crypto.ts';
import type { Policy } from '../../../proof/log/policy.ts';
import { type HashTile, tileOf, tilePath } from '../../../proof/log/tile.ts';
import { verifyCheckpoint } from '../../../proof/log/verify.ts';
import { leafHash } from '../../../proof/merkle.ts';
import { entriesOf } from '../../../proof/narrow.ts';
import { caught, Fault, messageOf, only } from '../../../shared/fault.ts';
import { plural } from '../../../shared/plural.ts';
import { keyLeafFault, leafIn } from './leaf.ts';
import { entriesFrom, hashesOf, isMissing, type LogSource } from './served-log.ts';

/** After this many faults, a log is read no further. */
const FAULTS_MAX = 100;

/** A published log that was read from its first entry to its last. */
interface CheckedLog {
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
 * Verifies a whole log in bounded memory: leaves, tiles, root and policy. Passes each entry to `seen`. Throws a Fault
 * when the log has no checkpoint or cannot be read to its end.
 */
export async function verifyLog(
  source: LogSource,
  policy: Policy | null,
  progress: (done: number, total: number) => void = () => {},
  seen: (entry: Uint8Array) => void = () => {},
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
  await readAll(source, checkpoint, checked, progress, seen);
  return checked;
}

function checkpointIn(source: LogSource, text: string): SignedCheckpoint {
  const checkpoint = caught(LogFault, () => parseCheckpoint(text));
  if (!(checkpoint instanceof LogFault)) return checkpoint;
  throw new Fault('invalid_request', `${source.where} is not a log: ${checkpoint.message}`);
}

async function checkPolicy(text: string, policy: Policy, checked: CheckedLog): Promise<void> {
  const verified = await verifyCheckpoint(text, policy, nodeCrypto).catch(only(LogFault));
  if (verified instanceof LogFault) checked.faults.push(verified.message);
  else checked.cosigned_by = cosignedBy(verified.cosigners);
}

async function readAll(
  source: LogSource,
  { size, root }: SignedCheckpoint,
  checked: CheckedLog,
  progress: (done: number, total: number) => void,
  seen: (entry: Uint8Array) => void,
): Promise<void> {
  const { faults } = checked;
  let edge = EMPTY_EDGE;
  try {
    for await (const { start, entries } of entriesFrom(source, 0, size)) {
      for (const [at, entry] of entries.entries()) {
        countLeaf(start + at, entry, checked);
        seen(entry);
      }
      const grown = growEdge(edge, entries.map(leafHash));
      edge = grown.edge;
      for (const { tile, bytes } of grown.tiles) {
        // A tile that later entries will widen is compared once it has the width of the checkpoint's tree.
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
  const leaf = caught(LogFault, () => leafIn(entry));
  const fault = leaf instanceof LogFault ? leaf.message : keyLeafFault(leaf);
  if (!(leaf instanceof LogFault)) leaves[leaf.kind] = (leaves[leaf.kind] ?? 0) + 1;
  if (fault !== null) faults.push(`leaf ${index}: ${fault}`);
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

const KINDS: Record<Leaf['kind'], [one: string, many: string]> = {
  receipt: ['receipt', 'receipts'],
  'receipt-hash': ['hash of a receipt', 'hashes of receipts'],
  evidence: ['reading of a source', 'readings of sources'],
  fact: ['version of a fact', 'versions of facts'],
  withdrawal: ['withdrawal', 'withdrawals'],
  key: ['key', 'keys'],
  'key-retired': ['retired key', 'retired keys'],
  clock: ['correction of the clock', 'corrections of the clock'],
  dump: ['dump', 'dumps'],
  archive: ['manifest of the archive', 'manifests of the archive'],
};

const WITNESSES_UNCHECKED =
  'Whether others see the same log was not checked: give --policy to demand its signature and the quorum of its witnesses.';

/** Describes a log that was read, in lines for people. */
export function verifiedLogLines(checked: CheckedLog): string[] {
  const { origin, size, leaves, faults, cosigned_by, log } = checked;
  const kinds = entriesOf(leaves).map(([kind, count = 0]) => plural(count, ...KINDS[kind]));
  const result =
    faults.length === 0
      ? `${origin}: ${plural(size, 'leaf', 'leaves')} (${kinds.join(', ')}), the tiles and the root hold`
      : `${log}: the log does not hold`;
  return [...faults.map((fault) => `${log}: ${fault}`), result, ...witnessLines(cosigned_by, faults)];
}

function witnessLines(cosigned: CheckedLog['cosigned_by'], faults: string[]): string[] {
  if (cosigned === null) return faults.length === 0 ? [WITNESSES_UNCHECKED] : [];
  if (cosigned.length === 0) return ['The policy asks for no witness, and none that it knows has cosigned.'];
  return [`Cosigned by ${cosigned.map(({ name, at }) => `${name} at ${at}`).join(', ')}.`];
}
