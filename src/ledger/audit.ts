import { basisOf, contentHash } from './basis.ts';
import type { Generation } from './chain.ts';
import { verifyNode } from './ed25519.ts';
import { generationFaults } from './generation.ts';
import type { VerifyingKey } from './keyring.ts';
import type { Piece } from './piece.ts';

/** A generation as the ledger stores it. */
export interface AuditedGeneration extends Generation {
  paper: string;
  piece: Piece;
}

/**
 * Audits generations in the order in which they were appended. Stores only a hash for each piece, and a number and a
 * time for each paper. `clock` says whether to require that time never decreases over `seq` and lies within the key's
 * period: old versions violated this while the clock was set back.
 */
export function generationAuditor(keys: VerifyingKey[], { clock = true }: { clock?: boolean } = {}) {
  const last = new Map<string, { revision: number; hash: string; filed_at: string }>();
  const seqs = new Map<string, { seq: number; filed_at: string }>();
  return {
    /** The faults of the next generation; empty when there are none. */
    next(generation: AuditedGeneration): string[] {
      const { paper, piece } = generation;
      const { receipt, faults } = generationFaults(generation, clock ? keys : keys.map(withoutPeriod), verifyNode);
      const before = last.get(piece.id);
      if (contentHash(basisOf(piece)) !== generation.content_hash) {
        faults.push(`revision ${piece.revision}: content_hash is not the hash of what is stored`);
      }
      if (generation.revision !== (before?.revision ?? 0) + 1) {
        faults.push(`revision ${piece.revision}: it follows revision ${before?.revision ?? 'none'}`);
      }
      if (receipt !== null) {
        if (receipt.paper !== paper || receipt.piece !== piece.id) {
          faults.push(`revision ${piece.revision}: its receipt is of ${receipt.paper}/${receipt.piece}`);
        }
        if (receipt.prev !== (before?.hash ?? null)) {
          faults.push(`revision ${piece.revision}: prev is not the hash of the generation before it`);
        }
        if (before !== undefined && receipt.filed_at < before.filed_at) {
          faults.push(`revision ${piece.revision}: it was filed before the generation that it follows`);
        }
      }
      const newest = seqs.get(paper) ?? { seq: 0, filed_at: '' };
      const seq = newest.seq + 1;
      if (generation.seq !== seq) faults.push(`seq is ${generation.seq}, not ${seq}`);
      if (clock && generation.filed_at < newest.filed_at) {
        faults.push(
          `seq ${generation.seq}: filed at ${generation.filed_at}, before seq ${newest.seq} at ${newest.filed_at}`,
        );
      }
      seqs.set(paper, { seq: generation.seq, filed_at: generation.filed_at });
      last.set(piece.id, {
        revision: generation.revision,
        hash: generation.receipt_hash,
        filed_at: generation.filed_at,
      });
      return faults.map((fault) => `${paper}/${piece.slug}: ${fault}`);
    },
    /** Pieces seen so far, with their newest revision. */
    revisions: (): Map<string, number> => new Map([...last].map(([id, { revision }]) => [id, revision])),
  };
}

function withoutPeriod(key: VerifyingKey): VerifyingKey {
  return { ...key, nbf: 0, retired_at: null };
}
