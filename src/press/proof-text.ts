import type { Hashed } from '../ledger/basis.ts';
import { sha256 } from '../ledger/basis.ts';
import type { ProofSources } from '../ledger/proof.ts';
import { proofOf, vkeyOf } from '../ledger/proof.ts';

/** A proof as the press writes it. */
export function proofText(piece: Hashed, sources: ProofSources): string {
  return `${JSON.stringify(proofOf(piece, sources), null, 2)}\n`;
}

/**
 * A digest of what a proof is made of, for the press cache. The content hash of the last generation represents the
 * piece's basis.
 */
export function proofVersion({ id, revision }: Pick<Hashed, 'id' | 'revision'>, sources: ProofSources): string {
  const { generations, keys, keysUrl, log, clock = [] } = sources;
  return sha256(
    JSON.stringify([id, revision, generations, keys.map((key) => [key.kid, vkeyOf(key)]), keysUrl, log, ...clock]),
  );
}
