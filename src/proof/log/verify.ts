import { sameBytes } from '../bytes.ts';
import { leafInput, nodeInput, type PathStep, pathSteps } from '../merkle-path.ts';
import { parseCheckpoint, type SignedCheckpoint } from './checkpoint.ts';
import { LogFault, shown } from './log-fault.ts';
import { parseTlogProof } from './log-proof.ts';
import { meetsQuorum, type Policy, type PolicyLog, type PolicyWitness } from './policy.ts';
import { type LogCrypto, signedBy } from './signatures.ts';

/** What a valid proof shows. */
export interface VerifiedProof extends VerifiedCheckpoint {
  index: number;
}

/** Verifies that a policy accepts the checkpoint of a proof, and that its tree has the entry. Throws a LogFault. */
export async function verifyTlogProof(
  entry: string | Uint8Array,
  text: string,
  policy: Policy,
  crypto: LogCrypto,
): Promise<VerifiedProof> {
  const { index, path, checkpointText } = parseTlogProof(text);
  const verified = await verifyCheckpoint(checkpointText, policy, crypto);
  const { size, root } = verified.checkpoint;
  const steps = pathSteps(index, size, path);
  if (steps === null) {
    throw new LogFault(`a proof of ${path.length} hashes is not that of entry ${index} in a tree of ${size}`);
  }
  if (!sameBytes(await pathRoot(entry, steps, crypto.sha256), root)) {
    throw new LogFault(`the proof does not lead from entry ${index} to the checkpoint's root`);
  }
  return { ...verified, index };
}

/** The root that the steps of an inclusion proof lead to from an entry (RFC 9162, section 2.1.3.2). */
export async function pathRoot(
  entry: string | Uint8Array,
  steps: PathStep[],
  sha256: LogCrypto['sha256'],
): Promise<Uint8Array> {
  let reached = await sha256(leafInput(entry));
  for (const { sibling, side } of steps) {
    reached = await sha256(side === 'left' ? nodeInput(sibling, reached) : nodeInput(reached, sibling));
  }
  return reached;
}

/** A witness that cosigned. */
export interface Cosigner {
  witness: PolicyWitness;
  /** When the witness saw this head as the log's latest, in seconds since 1970. */
  time: number;
}

/** A checkpoint that a policy accepts. */
export interface VerifiedCheckpoint {
  checkpoint: SignedCheckpoint;
  log: PolicyLog;
  cosigners: Cosigner[];
  /** Witnesses with a signature line that this platform cannot verify. They do not count. */
  unchecked: PolicyWitness[];
}

/** Verifies that a log of its origin signed it, every line of a known key, and the quorum. Throws a LogFault. */
export async function verifyCheckpoint(text: string, policy: Policy, crypto: LogCrypto): Promise<VerifiedCheckpoint> {
  const checkpoint = parseCheckpoint(text);
  const log = await logOf(checkpoint, policy, crypto);
  const cosigners: Cosigner[] = [];
  const unchecked: PolicyWitness[] = [];
  for (const witness of policy.witnesses) {
    const signed = await signedBy(checkpoint, witness.key, crypto);
    if (signed.by === 'key') cosigners.push({ witness, time: signed.time ?? 0 });
    if (signed.by === 'unchecked') unchecked.push(witness);
  }
  if (!meetsQuorum(policy, new Set(cosigners.map(({ witness }) => witness.name)))) {
    throw new LogFault(quorumFault(policy, cosigners, unchecked));
  }
  return { checkpoint, log, cosigners, unchecked };
}

async function logOf(checkpoint: SignedCheckpoint, { logs }: Policy, crypto: LogCrypto): Promise<PolicyLog> {
  const sameOrigin = logs.filter(({ key }) => key.name === checkpoint.origin);
  if (sameOrigin.length === 0) throw new LogFault(`the policy has no log ${shown(checkpoint.origin)}`);
  const signers: PolicyLog[] = [];
  for (const log of sameOrigin) {
    if ((await signedBy(checkpoint, log.key, crypto)).by === 'key') signers.push(log);
  }
  const [signer] = signers;
  if (signer === undefined) {
    throw new LogFault(`the checkpoint is not signed by a key that the policy has for ${shown(checkpoint.origin)}`);
  }
  return signer;
}

function quorumFault({ quorum, witnesses }: Policy, cosigners: Cosigner[], unchecked: PolicyWitness[]): string {
  const cosigned = `${cosigners.length} of ${witnesses.length} known witnesses cosigned`;
  const more = unchecked.map(({ name }) => `; the signature of ${shown(name)} cannot be checked here`).join('');
  return `the checkpoint has not the quorum ${shown(quorum ?? '')}: ${cosigned}${more}`;
}
