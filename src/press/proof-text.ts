import type { Hashed } from '../ledger/basis.ts';
import type { ProofSources } from '../ledger/proof.ts';
import { proofOf } from '../ledger/proof.ts';

/** A proof as the press writes it. */
export function proofText(piece: Hashed, sources: ProofSources): string {
  return `${JSON.stringify(proofOf(piece, sources), null, 2)}\n`;
}
