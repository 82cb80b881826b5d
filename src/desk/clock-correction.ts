import { type ClockStatement, clockIn } from '../proof/clock-note.ts';
import { dependencies } from './dependencies.ts';
import type { RecordEntry } from './ledger-entry.ts';
import type { LedgerStore } from './ledger-store.ts';
import { isPublic, receiptLeaf } from './log-leaves.ts';

/** A correction of the clock as a line of the ledger: a record of the kind `clock`, whose name is the service. */
export interface ClockBody {
  /** The signed note (`src/proof/clock-note.ts`). */
  note: string;
  /** Pieces that a schedule put on air too early, which no other line records. */
  aired: string[];
}

/** The ledger entry for a correction. */
export function clockEntry(note: string, aired: string[] = []): RecordEntry {
  const { service, paper, true_time } = statementOf(note);
  const body: ClockBody = { note, aired };
  return { type: 'record', at: Date.parse(true_time), paper: paper ?? '', kind: 'clock', name: service, body };
}

/** The statement in a correction's note. Throws for an invalid note. */
export function statementOf(note: string): ClockStatement {
  const said = clockIn(note);
  if (said === null) throw new Error('a correction of the clock is not a clock/v1 note');
  return said;
}

/** The log's leaf of a correction: the note, or only its hash for a paper that is not public. */
export function clockLeaf(store: Pick<LedgerStore, 'hasPaper' | 'archive'>, note: string): string {
  const { paper } = statementOf(note);
  return receiptLeaf(note, paper === null || isPublic(store, paper));
}

/** Lowers all times of a paper's pieces that are later than the true time, and marks the whole paper as stale. */
export function capTimes(store: LedgerStore, paper: string, time: number): void {
  for (const piece of store.datedAfter(paper, time)) {
    const state = store.pieceState(piece);
    if (state === null) continue;
    const capped = (at: number | null) => (at === null ? null : Math.min(at, time));
    const [published_at, updated_at] = [capped(state.published_at), capped(state.updated_at)];
    store.setPieceState(piece, { ...state, published_at, updated_at, withdrawn_at: capped(state.withdrawn_at) });
  }
  store.capReviewed(paper, time);
  store.capFacts(paper, time);
  store.capEvidence(paper, time);
  store.capChangedAt(paper, time);
  if (!store.hasPaper(paper)) return;
  store.markStale(paper, [dependencies.config]);
  store.bumpEdition(paper, time);
}
