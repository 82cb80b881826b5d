import type { Hashed } from '../ledger/basis.ts';
import type { ProofSources } from '../ledger/proof.ts';
import { claimsOf, proofOf } from '../ledger/proof.ts';
import { utf8 } from './utf8.ts';

/** A proof as the press writes it. */
export function proofText(piece: Hashed, sources: ProofSources): string {
  return `${JSON.stringify(proofOf(piece, sources), null, 2)}\n`;
}

/**
 * Whether a file that an earlier press wrote, with the code of today, is the proof of a piece now. The claims before and
 * after the basis are compared; the content hash among them stands for the basis, which is three quarters of a proof.
 */
export function isProofText(file: Buffer, piece: Hashed, sources: ProofSources): boolean {
  const { id, revision, content_hash, ...rest } = claimsOf(piece, sources);
  // A line break stands in no JSON string, so that no text within the basis is taken for what comes after it.
  const head = utf8(`${JSON.stringify({ id, revision, content_hash }, null, 2).slice(0, -2)},\n  "basis": {\n`);
  const tail = utf8(`",\n${JSON.stringify(rest, null, 2).slice(2)}\n`);
  return (
    file.length > head.length + tail.length &&
    file.subarray(0, head.length).equals(head) &&
    file.subarray(-tail.length).equals(tail)
  );
}
