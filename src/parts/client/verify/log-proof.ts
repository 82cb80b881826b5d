import { LogFault, shown } from '../../../proof/log/log-fault.ts';
import { type LogProof, readLogProof } from '../../../proof/log/log-proof.ts';
import { loggedEntries } from '../../../proof/log/logged-entries.ts';
import { nodeCrypto } from '../../../proof/log/node-crypto.ts';
import { meetsQuorum, type Policy } from '../../../proof/log/policy.ts';
import { type Cosigner, verifyTlogProof } from '../../../proof/log/verify.ts';
import { isIncluded, leafHash } from '../../../proof/merkle.ts';

/** A receipt that is in a log, with the witnesses whose signatures are valid. */
export interface LoggedReceipt {
  origin: string;
  index: number;
  /** The number of leaves under the head that covers the receipt. */
  size: number;
  cosigners: Cosigner[];
  /** Names of witnesses whose signatures this browser cannot check. */
  unchecked: string[];
  /** False when the quorum may be met, but depends on signatures that this browser cannot check. */
  isQuorumMet: boolean;
}

/**
 * Which log entry stands for a receipt: its hash, or for a public one, the note itself. It is the one from which the
 * proof leads to the root of its checkpoint. Does not check who signed that checkpoint. Throws a LogFault when the
 * proof leads from neither.
 */
export function loggedEntry(receipt: string, log: LogProof): string {
  const { index, path, checkpoint } = readLogProof(log);
  const { size, root } = checkpoint;
  const logged = loggedEntries(receipt).find((entry) => isIncluded(leafHash(entry), index, size, path, root));
  if (logged !== undefined) return logged;
  throw new LogFault('the proof does not lead from the receipt to the root of its checkpoint');
}

/**
 * Verifies that an entry is in the log, and that the policy's quorum of witnesses has signed the head that covers it.
 * Signatures that the browser cannot check leave the quorum open. Throws a LogFault for an invalid proof and for a
 * quorum that is missing.
 */
export async function verifyLogged(entry: string, log: LogProof, policy: Policy): Promise<LoggedReceipt> {
  const verified = await verifyTlogProof(entry, log.tlog_proof, { ...policy, quorum: null }, nodeCrypto);
  const { index, cosigners, checkpoint } = verified;
  const cosigned = cosigners.map(({ witness }) => witness.name);
  const unchecked = verified.unchecked.map(({ name }) => name);
  const isQuorumMet = meetsQuorum(policy, new Set(cosigned));
  if (!isQuorumMet && !meetsQuorum(policy, new Set([...cosigned, ...unchecked]))) {
    const count = `${cosigned.length + unchecked.length} of ${policy.witnesses.length}`;
    throw new LogFault(`only ${count} witnesses cosigned, and the quorum ${shown(policy.quorum ?? '')} asks for more`);
  }
  return { origin: log.origin, index, size: checkpoint.size, cosigners, unchecked, isQuorumMet };
}
