import type { Hashed } from '../ledger/basis.ts';
import { sha256 } from '../ledger/basis.ts';
import type { ProofSources } from '../ledger/proof.ts';
import { proofOf, vkeyOf } from '../ledger/proof.ts';

/** A proof as the press writes it. */
export function proofText(piece: Hashed, sources: ProofSources): string {
  return `${JSON.stringify(proofOf(piece, sources), null, 2)}\n`;
}

/**
 * What a proof is made of, besides the piece's basis, for which the content hash of its last generation stands. Two
 * proofs of the same slug with the same basis are the same.
 */
export function proofBasis({ id, revision }: Pick<Hashed, 'id' | 'revision'>, sources: ProofSources): string {
  const { generations, keys, keysUrl, log } = sources;
  return sha256(JSON.stringify([id, revision, generations, keys.map((key) => [key.kid, vkeyOf(key)]), keysUrl, log]));
}
