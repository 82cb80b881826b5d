import { tags } from '../desk/tags.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { parseLeaf } from '../ledger/log/leaf.ts';
import type { Store } from '../store/store.ts';
import type { CoveredLeaves } from '../transparency/cosigned-head.ts';

/** Leaves read per batch. */
const BATCH = 1_000;

type ProofStore = Pick<Store, 'log' | 'markStale'>;

/**
 * Has the proofs pressed again of the pieces whose public receipts are among these leaves of the desk. Call it in the
 * transaction in which a head that covers them gets its quorum. Nothing of the records is pressed.
 */
export function markProofsStale({ log: tables, markStale }: ProofStore, log: LogService, leaves: CoveredLeaves): void {
  if (log !== 'desk') return;
  for (let start = leaves.start; start < leaves.end; start += BATCH) {
    for (const entry of tables.entries(log, start, Math.min(start + BATCH, leaves.end))) {
      const leaf = parseLeaf(entry);
      if (leaf.kind === 'receipt') markStale(leaf.receipt.paper, [tags.proof(leaf.receipt.piece)]);
    }
  }
}
