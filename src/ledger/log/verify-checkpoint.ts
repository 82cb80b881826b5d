import type { SignedCheckpoint } from './checkpoint.ts';
import { parseCheckpoint } from './checkpoint.ts';
import type { LogCrypto } from './log-crypto.ts';
import { LogFault, shown } from './log-fault.ts';
import type { Policy, PolicyLog, PolicyWitness } from './policy.ts';
import { meetsQuorum } from './quorum.ts';
import { signedBy } from './signatures.ts';

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

/**
 * Verifies a checkpoint against a policy: a log with its origin has signed it, no line by a known key is invalid, and
 * the quorum is met. Throws a LogFault.
 */
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
