import { type ClockBody, clockLeaf } from '../../desk/clock-correction.ts';
import { type EvidenceBody, evidenceOf } from '../../desk/evidence.ts';
import { factOf } from '../../desk/fact.ts';
import { isPublic, keyLeaf, LOG_SERVICES, receiptLeaf, retirementLeaf } from '../../desk/log-leaves.ts';
import type { ReviewBody } from '../../desk/review.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { receiptHashLeaf } from '../../proof/log/logged-entries.ts';
import { progressTo } from '../../shared/terminal/progress.ts';
import type { Store } from '../../store/store.ts';

/** The number of observations that one transaction fills in. */
const BATCH = 10_000;

/** Logs everything that was signed before the log existed. Call it before signing, outside a transaction. */
export function fillLogs(store: Store): void {
  for (const log of LOG_SERVICES) {
    if (store.database.log.isFilled(log)) continue;
    const progress = progressTo();
    fillLog(store, log, (leaves) => progress.step(`log of the ${log}`, leaves, null, 'leaves of the past'));
    progress.end();
  }
}

/**
 * Logs a service's past, oldest first; things that are not public now only by hash. Resumes where another process
 * stopped, and may run alongside it.
 */
export function fillLog(store: Store, log: LogService, onProgress: (leaves: number) => void = () => {}, batch = BATCH) {
  if (log === 'desk') fillDesk(store, onProgress);
  else while (!fillObservations(store, batch)) onProgress(store.database.log.size(log));
}

/** One transaction: what is public may change between two. */
function fillDesk({ database, desk }: Store, onProgress: (leaves: number) => void): void {
  const fill = (leaf: string) => database.log.fill('desk', leaf);
  database.transact(() => {
    if (database.log.isFilled('desk')) return;
    const publicPapers = new Set(desk.paperSlugs().filter((paper) => isPublic(desk, paper)));
    let leaves = 0;
    for (const entry of desk.entries()) {
      if (entry.type === 'key') fill(keyLeaf('desk', entry));
      else if (entry.type === 'retirement') fill(retirementLeaf('desk', entry));
      else if (entry.type === 'record' && entry.kind === 'clock' && entry.name === 'desk') {
        fill(clockLeaf(desk, (entry.body as ClockBody).note));
      } else if (entry.type === 'record' && entry.kind === 'review') {
        fill(receiptLeaf((entry.body as ReviewBody).note, false));
      } else if (entry.type === 'record' && entry.kind === 'fact') {
        const isCited = (desk.archive(entry.paper).fact(entry.name)?.cited ?? 0) > 0;
        fill(receiptLeaf(factOf(entry).receipt, isCited && publicPapers.has(entry.paper)));
      } else if (entry.type === 'record' && entry.kind === 'evidence') {
        const { note } = entry.body as EvidenceBody;
        const { subject } = evidenceOf(entry);
        const archive = desk.archive(entry.paper);
        const isCited =
          'claim_key' in subject
            ? (archive.fact(subject.claim_key)?.cited ?? 0) > 0
            : desk.pieceState(subject.piece)?.state === 'on_air';
        fill(receiptLeaf(note, isCited && publicPapers.has(entry.paper)));
      } else if (entry.type === 'generation') {
        const isOnAir = desk.pieceState(entry.piece.id)?.state === 'on_air';
        fill(receiptLeaf(entry.receipt, isOnAir && publicPapers.has(entry.paper)));
      } else continue;
      onProgress(++leaves);
    }
    database.log.setFilled('desk', true);
  });
}

/** Logs the keys and the next observations. Returns whether everything is logged. */
function fillObservations(store: Store, batch: number): boolean {
  const { log: tables, transact } = store.database;
  return transact(() => {
    if (tables.isFilled('records')) return true;
    // In each batch, because a key may have been rotated since the last one.
    const keys = keyLeaves(store);
    for (const leaf of keys) tables.fill('records', leaf);
    const receipts = store.records.receipts(tables.size('records') - keys.length + 1, batch);
    for (const receipt of receipts) tables.fill('records', receiptHashLeaf(receipt));
    if (receipts.length === batch) return false;
    for (const note of store.desk.clockNotes('records', '')) tables.fill('records', clockLeaf(store.desk, note));
    tables.setFilled('records', true);
    return true;
  });
}

function keyLeaves(store: Store): string[] {
  return store.desk.keysAsEntered().flatMap(({ kid, publicKey, nbf, retired_at }) => {
    const public_key = Buffer.from(publicKey).toString('base64');
    const leaf = keyLeaf('records', { kid, public_key, at: nbf });
    return retired_at === null ? [leaf] : [leaf, retirementLeaf('records', { kid, at: retired_at })];
  });
}
