import { sameBytes } from '../../../proof/bytes.ts';
import { edgeRoot, growEdge, type TreeEdge } from '../../../proof/log/append.ts';
import { CHECKPOINT_MAX } from '../../../proof/log/checkpoint.ts';
import { isConsistent } from '../../../proof/log/consistency.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import { nodeCrypto } from '../../../proof/log/node-crypto.ts';
import type { Policy } from '../../../proof/log/policy.ts';
import { type VerifiedCheckpoint, verifyCheckpoint } from '../../../proof/log/verify.ts';
import { leafHash } from '../../../proof/merkle.ts';
import { caught, Fault, messageOf, only } from '../../../shared/fault.ts';
import { plural } from '../../../shared/plural.ts';
import { leafIn } from '../log/leaf.ts';
import { entriesFrom, type LogSource, ServedTree } from '../log/served-log.ts';
import type { Finding, LogMemory } from './log-memory.ts';
import type { MonitorState } from './monitor-state.ts';

/** Findings in leaves that one run reports. */
const FINDINGS_MAX = 100;

/** A head that the log's key has signed. */
export interface SignedHead extends VerifiedCheckpoint {
  text: string;
  /** Why the policy's quorum is not met; null when it is. */
  quorum_fault: string | null;
}

/** Reads a log's checkpoint. Throws a Fault unless it is signed by a log of the policy. */
export async function readHead(source: LogSource, policy: Policy): Promise<SignedHead> {
  const text = Buffer.from(await source.read('checkpoint', CHECKPOINT_MAX)).toString('utf8');
  const verified = (by: Policy) => verifyCheckpoint(text, by, nodeCrypto).catch(only(LogFault));
  const signed = await verified({ ...policy, witnesses: [], groups: [], quorum: null });
  if (signed instanceof LogFault) throw new Fault('invalid_request', `${source.where}checkpoint: ${signed.message}`);
  const cosigned = await verified(policy);
  if (cosigned instanceof LogFault) return { ...signed, text, quorum_fault: cosigned.message };
  return { ...cosigned, text, quorum_fault: null };
}

/**
 * Compares a head with what was seen, and reads the leaves in between. `edge` is the head's tree; null when it does not
 * continue the one that was seen. Throws a Fault when the log's files cannot be read or do not belong to its own head.
 */
export async function readGrowth(
  source: LogSource,
  head: SignedHead,
  seen: Pick<MonitorState, 'edge' | 'seen_at'>,
  memory: LogMemory,
  check: (done: number, total: number) => void,
): Promise<{ edge: TreeEdge | null; findings: Finding[] }> {
  const { origin, size, root } = head.checkpoint;
  const before = `${plural(seen.edge.size, 'leaf', 'leaves')} at ${seen.seen_at}`;
  const broken = (kind: 'fork' | 'shrunken', what: string, means: string) => ({
    edge: null,
    findings: [{ kind, where: origin, what, means }],
  });
  if (size < seen.edge.size) {
    const means = 'an older copy was restored, or its newest history was removed';
    return broken('shrunken', `the log had ${before}, and has ${size} now`, means);
  }
  const findings: Finding[] = [];
  const fork = () =>
    broken(
      'fork',
      `the first ${plural(seen.edge.size, 'leaf', 'leaves')} are not those that the log had at ${seen.seen_at}`,
      'its operator, or somebody with its key, has rewritten history, or shows different readers different logs',
    );
  if (size === seen.edge.size) return sameBytes(edgeRoot(seen.edge), root) ? { edge: seen.edge, findings } : fork();

  let { edge } = seen;
  try {
    for await (const { start, entries } of entriesFrom(source, edge.size, size)) {
      for (const [at, entry] of entries.entries()) takeLeaf(start + at, entry, origin, memory, findings);
      edge = growEdge(edge, entries.map(leafHash)).edge;
      check(edge.size, size);
    }
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    throw new Fault('invalid_request', `${source.where}${messageOf(error)}`);
  }
  if (sameBytes(edgeRoot(edge), root)) return { edge, findings };
  if (await isProvenFork(source, head, seen.edge)) return fork();
  throw new Fault('invalid_request', `${source.where} serves entries that do not belong to its own checkpoint`);
}

function takeLeaf(index: number, entry: Uint8Array, origin: string, memory: LogMemory, findings: Finding[]): void {
  const where = `${origin} leaf ${index}`;
  // Every leaf is remembered, whatever was found before it.
  const taken = caught(LogFault, () => memory.take(index, leafIn(entry)));
  const found: Finding[] =
    taken instanceof LogFault
      ? [{ kind: 'leaf', where, what: taken.message, means: 'nobody can tell what this entry says' }]
      : taken.map((one) => ({ ...one, where }));
  findings.push(...found.slice(0, FINDINGS_MAX - findings.length));
}

/** Whether the log's own tiles give its head, and another tree than the one that was seen. */
async function isProvenFork(source: LogSource, { checkpoint }: SignedHead, seen: TreeEdge): Promise<boolean> {
  const tree = new ServedTree(source, checkpoint.size);
  try {
    if (!sameBytes(await tree.ask((served) => served.root()), checkpoint.root)) return false;
    const proof = await tree.ask((served) => served.consistencyProof(seen.size));
    return !isConsistent({ size: seen.size, root: edgeRoot(seen) }, checkpoint, proof);
  } catch (error) {
    if (error instanceof LogFault) return false;
    throw error;
  }
}
