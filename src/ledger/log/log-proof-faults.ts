import { isIncluded, leafHash } from '../merkle.ts';
import { LogFault } from './log-fault.ts';
import type { LogProof } from './log-proof.ts';
import { readLogProof } from './log-proof.ts';
import { loggedEntries } from './logged-entries.ts';

/**
 * The faults of a `log` member without a policy (protocol 7.10): whether it leads from the note to the root that its
 * checkpoint states. Who signed that checkpoint is another question, which only a policy answers.
 */
export function logProofFaults(log: LogProof | null | undefined, note: string): string[] {
  if (log == null) return [];
  try {
    const { index, path, checkpoint } = readLogProof(log);
    const leads = loggedEntries(note).some((entry) =>
      isIncluded(leafHash(entry), index, checkpoint.size, path, checkpoint.root),
    );
    return leads ? [] : ['log: the proof does not lead from the receipt to the root of its checkpoint'];
  } catch (fault) {
    if (fault instanceof LogFault) return [`log: ${fault.message}`];
    throw fault;
  }
}
