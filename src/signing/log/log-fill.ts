import { type ClockBody, clockLeaf } from '../../desk/clock-correction.ts';
import { isPublic, keyLeaf, LOG_SERVICES, receiptLeaf, retirementLeaf } from '../../desk/log-leaves.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { receiptHashLeaf } from '../../proof/log/logged-entries.ts';
import { progressTo } from '../../shared/terminal/progress.ts';
import type { Store } from '../../store/store.ts';

/** The number of observations that one transaction fills in. */
const BATCH = 10_000;

/** Logs what was signed before there was a log. Call it before signing, outside a transaction. */
export function fillLogs(store: Store): void {
  for (const log of LOG_SERVICES) {
    if (store.database.log.isFilled(log)) continue;
    const progress = progressTo();
    fillLog(store, log, (leaves) => progress.step(`log of the ${log}`, leaves, null, 'leaves of the past'));
    progress.end();
  }
}

/**
 * Logs a service's past, oldest first; of what is not public now only the hash. Resumes where another process stopped,
 * or beside it.
 */
export function fillLog(store: Store, log: LogService, onProgress: (leaves: number) => void = () => {}, batch = BATCH) {
  if (log === 'desk') fillDesk(store, onProgress);
  else while (!fillObservations(store, batch)) onProgress(store.database.log.size(log));
}

/** In one transaction, because what is public may change between two. */
function fillDesk(store: Store, onProgress: (leaves: number) => void): void {
  store.database.transact(() => {
    if (store.database.log.isFilled('desk')) return;
    const publicPapers = new Set(store.desk.paperSlugs().filter((paper) => isPublic(store.desk, paper)));
    let leaves = 0;
    for (const entry of store.desk.entries()) {
      if (entry.type === 'key') store.database.log.fill('desk', keyLeaf('desk', entry));
      else if (entry.type === 'retirement') store.database.log.fill('desk', retirementLeaf('desk', entry));
      else if (entry.type === 'record' && entry.kind === 'clock' && entry.name === 'desk') {
        store.database.log.fill('desk', clockLeaf(store.desk, (entry.body as ClockBody).note));
      } else if (entry.type === 'generation') {
        const isOnAir = store.desk.pieceState(entry.piece.id)?.state === 'on_air';
        store.database.log.fill('desk', receiptLeaf(entry.receipt, isOnAir && publicPapers.has(entry.paper)));
      } else continue;
      onProgress(++leaves);
    }
    store.database.log.setFilled('desk', true);
  });
}

/** Logs the keys, and the next observations. Returns whether that was everything. */
function fillObservations(store: Store, batch: number): boolean {
  return store.database.transact(() => {
    if (store.database.log.isFilled('records')) return true;
    // In each batch, because a key may have been rotated since the last one.
    const keys = keyLeaves(store);
    for (const leaf of keys) store.database.log.fill('records', leaf);
    const next = store.database.log.size('records') - keys.length + 1;
    const receipts = store.records.receipts(next, batch);
    for (const receipt of receipts) store.database.log.fill('records', receiptHashLeaf(receipt));
    const isDone = receipts.length < batch;
    if (isDone)
      for (const note of store.desk.clockNotes('records', ''))
        store.database.log.fill('records', clockLeaf(store.desk, note));
    if (isDone) store.database.log.setFilled('records', true);
    return isDone;
  });
}

function keyLeaves(store: Store): string[] {
  return store.desk.keysAsEntered().flatMap(({ kid, publicKey, nbf, retired_at }) => {
    const public_key = Buffer.from(publicKey).toString('base64');
    const leaf = keyLeaf('records', { kid, public_key, at: nbf });
    return retired_at === null ? [leaf] : [leaf, retirementLeaf('records', { kid, at: retired_at })];
  });
}
