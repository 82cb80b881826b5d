import { tags } from '../desk/tags.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import { parseLeaf } from '../ledger/log/leaf.ts';
import type { Store } from '../store/store.ts';
import type { LogHead } from '../transparency/log-tables.ts';

/** Leaves read at once. */
const BATCH = 1_000;

type CosignedStore = Pick<Store, 'log' | 'markStale'>;

/**
 * Stores that a head met its quorum, and has the proofs of the pieces that it is the first to cover pressed again.
 * Call it in a transaction. Returns false when the head was cosigned before, or a later one was.
 */
export function storeCosigned(
  store: CosignedStore,
  log: LogService,
  { origin, size }: Pick<LogHead, 'origin' | 'size'>,
  cosigned: string,
): boolean {
  const covered = store.log.cosignedSize(log);
  if (!store.log.setCosigned(log, origin, size, cosigned)) return false;
  if (log === 'desk') markProofsStale(store, covered, size);
  return true;
}

/** Marks the proofs of the pieces whose public receipts are leaves from `start` up to, not including, `end`. */
function markProofsStale({ log, markStale }: CosignedStore, start: number, end: number): void {
  for (let at = start; at < end; at += BATCH) {
    for (const entry of log.entries('desk', at, Math.min(at + BATCH, end))) {
      const leaf = parseLeaf(entry);
      if (leaf.kind === 'receipt') markStale(leaf.receipt.paper, [tags.proof(leaf.receipt.piece)]);
    }
  }
}
