import { isoTime } from '../time.ts';
import { LogFault, shown } from './log-fault.ts';
import type { LogProof } from './log-proof.ts';
import { loggedEntries } from './logged-entries.ts';
import { nodeCrypto } from './node-crypto.ts';
import type { Policy } from './policy.ts';
import { type Cosigner, type VerifiedProof, verifyTlogProof } from './verify.ts';

const NO_PROOF =
  'there is no proof that the receipt is in the log; it gets one when enough witnesses have signed: fetch it again later';

/**
 * A receipt that is in a policy's log according to its witnesses: its leaf, from 0, and the log's size at that time.
 */
export type LoggedReceipt = ReturnType<typeof loggedReceipt>;

/** Verifies with a policy that the `log` member of a document proves that a log contains the receipt or its hash. */
export async function checkLogged(log: LogProof | null | undefined, receipt: string, policy: Policy) {
  if (log == null) return { logged: null, faults: [`log: ${NO_PROOF}`] };
  const faults: string[] = [];
  for (const entry of loggedEntries(receipt)) {
    try {
      return {
        logged: loggedReceipt(await verifyTlogProof(entry, log.tlog_proof, policy, nodeCrypto), log),
        faults: [],
      };
    } catch (fault) {
      if (!(fault instanceof LogFault)) throw fault;
      faults.push(`log: ${fault.message}`);
    }
  }
  return { logged: null, faults: faults.slice(0, 1) };
}

function loggedReceipt({ checkpoint, index, cosigners }: VerifiedProof, log: LogProof) {
  const { origin, size } = checkpoint;
  if (origin !== log.origin || index !== log.index) {
    throw new LogFault(
      `it names leaf ${log.index} of ${shown(log.origin)}, but proves leaf ${index} of ${shown(origin)}`,
    );
  }
  return { origin, index, size, cosigned_by: cosignedBy(cosigners) };
}

export type CosignedBy = ReturnType<typeof cosignedBy>[number];

/**
 * The witnesses that cosigned a checkpoint, for reports: each with its name in the policy, and the time in ISO 8601.
 */
export function cosignedBy(cosigners: Cosigner[]) {
  return cosigners.map(({ witness, time }) => ({ name: witness.name, at: isoTime(time * 1_000) }));
}
