import { basisOf, contentHash } from './basis.ts';
import type { Generation } from './chain.ts';
import type { TimeCorrection } from './clock-note.ts';
import { verifyNode } from './ed25519.ts';
import { generationFaults } from './generation.ts';
import type { VerifyingKey } from './keyring.ts';
import type { Piece } from './piece.ts';

/** A generation as the ledger stores it. */
export interface AuditedGeneration extends Generation {
  paper: string;
  piece: Piece;
}

export interface AuditOptions {
  /** Whether to require that time never decreases over `seq` and lies within the key's period. */
  clock?: boolean;
  /** The corrections of the clock for a paper. */
  corrections?(paper: string): readonly TimeCorrection[];
}

/**
 * Audits generations in the order in which they were appended. Stores only a hash for each piece, and a number and a
 * time for each paper. Without `clock`, times are not compared: old versions let them decrease while the clock was set
 * back.
 */
export function generationAuditor(keys: VerifyingKey[], { clock = true, corrections = () => [] }: AuditOptions = {}) {
  const last = new Map<string, { revision: number; hash: string; time: string }>();
  const seqs = new Map<string, { seq: number; time: string }>();
  return {
    /** The faults of the next generation; empty when there are none. */
    next(generation: AuditedGeneration): string[] {
      const { paper, piece } = generation;
      const { receipt, time, faults } = generationFaults(
        generation,
        clock ? keys : keys.map(withoutPeriod),
        verifyNode,
        corrections(paper),
      );
      const at = receipt === null ? generation.filed_at : time;
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
        if (clock && before !== undefined && at < before.time) {
          faults.push(`revision ${piece.revision}: it was filed before the generation that it follows`);
        }
      }
      const newest = seqs.get(paper) ?? { seq: 0, time: '' };
      const seq = newest.seq + 1;
      if (generation.seq !== seq) faults.push(`seq is ${generation.seq}, not ${seq}`);
      if (clock && at < newest.time) {
        faults.push(`seq ${generation.seq}: filed at ${at}, before seq ${newest.seq} at ${newest.time}`);
      }
      seqs.set(paper, { seq: generation.seq, time: at });
      last.set(piece.id, {
        revision: generation.revision,
        hash: generation.receipt_hash,
        time: at,
      });
      return faults.map((fault) => `${paper}/${piece.slug}: ${fault}`);
    },
    /** The number of the newest generation seen so far; 0 before the first. */
    newestSeq: (paper: string): number => seqs.get(paper)?.seq ?? 0,
    /** Pieces seen so far, with their newest revision. */
    revisions: (): Map<string, number> => new Map([...last].map(([id, { revision }]) => [id, revision])),
  };
}

function withoutPeriod(key: VerifyingKey): VerifyingKey {
  return { ...key, nbf: 0, retired_at: null };
}
