import type { LogService } from '../ledger/log/leaf.ts';
import type { LogProof } from '../ledger/log/log-proof.ts';
import { loggedEntries } from '../ledger/log/logged-entries.ts';
import { tileOf } from '../ledger/log/tile.ts';
import { tlogProofText } from '../ledger/log/tlog-proof.ts';
import { logTree, tileNodes } from '../ledger/log/tree.ts';
import { leafHash } from '../ledger/merkle.ts';
import type { LogTables } from './log-tables.ts';

type ProofTables = Pick<LogTables, 'indexOf' | 'firstCosignedOver' | 'cosignedSize' | 'tiles'>;

/**
 * The proof that a signed note is in the log; null until a cosigned head covers its leaf. It is computed from the
 * first such head, so a proof that was given out once never changes.
 */
export function logProof(tables: ProofTables, log: LogService, note: string): LogProof | null {
  return logProver(tables, log)(note);
}

/** Proves many notes. Proofs by neighboring leaves and heads share the hashes of their tiles. */
export function logProver(tables: ProofTables, log: LogService): (note: string) => LogProof | null {
  const read = tables.tiles(log);
  // As wide as cosigned heads reach, so that one tile serves the trees of all of them.
  const nodes = tileNodes(({ level, index }) => read(tileOf(level, index, tables.cosignedSize(log))));
  return (note) => {
    const index = indexOfNote(tables, log, note);
    const head = index === null ? null : tables.firstCosignedOver(log, index);
    if (index === null || head?.cosigned == null) return null;
    const path = logTree(head.size, read, nodes).inclusionProof(index);
    return {
      origin: head.origin,
      index,
      tlog_proof: tlogProofText({ index, path, checkpoint: head.cosigned, extra: null }),
    };
  };
}

/** The index of a note's own leaf, else of the leaf with its hash; null when it has neither. */
export function indexOfNote(tables: Pick<LogTables, 'indexOf'>, log: LogService, note: string): number | null {
  for (const entry of loggedEntries(note)) {
    const index = tables.indexOf(log, leafHash(entry));
    if (index !== null) return index;
  }
  return null;
}
