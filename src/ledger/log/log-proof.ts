import type { Shape } from '../members.ts';
import { LogFault, shown } from './log-fault.ts';
import type { ParsedTlogProof } from './tlog-proof.ts';
import { parseTlogProof } from './tlog-proof.ts';

/**
 * That a receipt is in the log (protocol 7.9): the `log` member of a proof, of a row of provenance and of a record in
 * an evidence bundle. It is null until a cosigned head covers the leaf, and absent in documents from before there was a
 * log.
 */
export interface LogProof {
  /** The log's name: the first line of its checkpoints. */
  origin: string;
  /** The leaf's index, from 0. */
  index: number;
  /** The text of the proof (C2SP tlog-proof). */
  tlog_proof: string;
}

/** The form of the member, for documents that a verifier reads. */
export const LOG_PROOF: Shape = { origin: 'a text', index: 'a whole number', tlog_proof: 'a text' };

/** Parses the proof and compares it with what the member says beside it. Verifies nothing. Throws a LogFault. */
export function readLogProof({ origin, index, tlog_proof }: LogProof): ParsedTlogProof {
  const parsed = parseTlogProof(tlog_proof);
  if (parsed.checkpoint.origin !== origin) {
    throw new LogFault(`it says origin ${shown(origin)}, but its proof is of ${shown(parsed.checkpoint.origin)}`);
  }
  if (parsed.index !== index) throw new LogFault(`it says index ${index}, but its proof is of entry ${parsed.index}`);
  return parsed;
}
