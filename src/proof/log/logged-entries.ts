import { sha256 } from '../basis.ts';
import { isIncluded, leafHash } from '../merkle.ts';
import { receiptHashText } from './leaf.ts';
import { LogFault } from './log-fault.ts';
import { type LogProof, readLogProof } from './log-proof.ts';

/** The log entries that may stand for a signed note: the note itself if it is public, else its hash. */
export function loggedEntries(note: string): [note: string, hash: string] {
  return [note, receiptHashLeaf(note)];
}

/** The leaf for a signed note that is not public: of a draft, of a private paper's piece, or of an observation. */
export function receiptHashLeaf(note: string): string {
  return receiptHashText(sha256(note));
}

/**
 * The faults of a `log` member, checked without a policy (protocol 7.10): whether it leads from the note to the root in
 * its checkpoint. Only a policy can say whose signatures the checkpoint needs.
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
