import type { Archive, Row } from './archive.ts';
import { isWithdrawn } from './archive.ts';
import { emitAired, emitCast, emitRevised, emitWithdrawn } from './emit.ts';
import type { AiringEntry, GenerationEntry, LedgerEntry, RecordEntry, WithdrawalEntry } from './ledger-entry.ts';
import type { LedgerStore, PieceState } from './ledger-store.ts';
import { PaperBody } from './paper.ts';
import { tags, changedTags } from './tags.ts';

/**
 * Enters one line into the ledger and draws what follows from it: how the
 * piece stands, the edition's number, what the press owes, and what those who
 * asked for it are told. Filing, airing and `ledger import` all end here, so a
 * replayed ledger gives the same archive; a replay is given a store that tells
 * nobody. Runs inside a transaction of the caller's. `now` is the clock's time
 * where the entry's own is ahead of it, because the clock was set back.
 */
export function append(store: LedgerStore, entry: LedgerEntry, now = entry.at): void {
  // Airings that fell due before this entry come first, however late anybody looks; none before its time.
  airDue(store, Math.min(now, entry.at));
  // Asks the archive, which must still show the edition that was there before.
  if (entry.type === 'record' && entry.kind === 'cast') emitCast(store, entry);
  store.append(entry);
  switch (entry.type) {
    case 'record':
      return applyRecord(store, entry);
    case 'generation':
      return applyGeneration(store, entry);
    case 'airing':
      return applyAiring(store, entry);
    case 'withdrawal':
      return applyWithdrawal(store, entry);
    case 'key':
    case 'retirement':
      for (const paper of store.paperSlugs()) store.markStale(paper, [tags.keys]);
      return;
  }
}

/** Puts on air what was scheduled for `now` or before. Returns the pieces' ids. */
export function airDue(store: LedgerStore, now: number): string[] {
  const due = store.scheduled(now);
  for (const { paper, piece, at } of due) putOnAir(store, paper, piece, at, at);
  return due.map(({ piece }) => piece);
}

function applyRecord(store: LedgerStore, { paper, kind, name, body, at }: RecordEntry): void {
  if (kind === 'paper') {
    store.setPaper(paper, PaperBody.parse(body), at);
    store.markStale(paper, [tags.config]);
  } else if (kind === 'persona') {
    store.markStale(paper, [tags.masthead, tags.persona(name), tags.newestBy(name)]);
  } else if (kind === 'cast') {
    store.markStale(paper, [tags.cast, tags.day(name)]);
  } else {
    store.markStale(paper, [tags.media(name)]);
  }
  store.markStale(paper, [tags.edition]);
  store.bumpEdition(paper, at);
}

function applyGeneration(store: LedgerStore, entry: GenerationEntry): void {
  const archive = store.archive(entry.paper);
  const before = rowOnAir(archive, entry.piece.id);
  store.setGeneration(entry);
  const standing = store.pieceState(entry.piece.id);
  // Of a withdrawn piece readers still see the notice, which names its headline.
  if (standing !== null && hasNotice(standing)) markChanged(store, entry.paper, entry.piece.id, null, entry.at, true);
  if (standing === null || before === null) return;
  // A revision made before the piece went on air is part of what went on air.
  const updated_at = Math.max(before.published_at, entry.piece.revised_at ?? entry.at);
  store.setPieceState(entry.piece.id, { ...standing, updated_at });
  markChanged(store, entry.paper, entry.piece.id, before, entry.at, entry.piece.correction !== null);
  emitRevised(store, entry, before);
}

function applyAiring(store: LedgerStore, { paper, piece, on_air_at, at }: AiringEntry): void {
  if (on_air_at <= at) return putOnAir(store, paper, piece, on_air_at, at);
  const standing = store.pieceState(piece);
  if (standing === null) return;
  // What was withdrawn stays so for readers until it is back.
  const { withdrawn_at, reason } = hasNotice(standing) ? standing : { withdrawn_at: null, reason: null };
  store.setPieceState(piece, { ...standing, state: 'scheduled', scheduled_at: on_air_at, withdrawn_at, reason });
}

function putOnAir(store: LedgerStore, paper: string, piece: string, onAirAt: number, at: number): void {
  const standing = store.pieceState(piece);
  if (standing === null) return;
  const published_at = standing.published_at ?? onAirAt;
  const again = standing.published_at !== null;
  const revised = store.archive(paper).piece(piece)?.revised_at ?? 0;
  store.setPieceState(piece, {
    state: 'on_air',
    published_at,
    updated_at: again ? at : Math.max(published_at, revised),
    scheduled_at: null,
    withdrawn_at: null,
    reason: null,
  });
  markChanged(store, paper, piece, null, at, again);
  emitAired(store, paper, piece, { onAirAt, at, again });
}

function applyWithdrawal(store: LedgerStore, { paper, piece, reason, at }: WithdrawalEntry): void {
  const standing = store.pieceState(piece);
  if (standing === null) return;
  const before = rowOnAir(store.archive(paper), piece);
  // A piece that was never on air has no readers to tell: it is a draft again.
  const state = standing.published_at === null ? 'draft' : 'withdrawn';
  // Taken off its schedule, a withdrawn piece has been off the air since it was withdrawn.
  const withdrawn_at = hasNotice(standing) ? standing.withdrawn_at : at;
  store.setPieceState(piece, { ...standing, state, scheduled_at: null, withdrawn_at, reason });
  if (state === 'withdrawn') markChanged(store, paper, piece, before, at, true);
  // One that was withdrawn before, and only scheduled since, was told of then.
  if (before !== null) emitWithdrawn(store, paper, before, { at, reason });
}

/**
 * A change that readers see: counts it and marks what must be pressed. A press
 * that has begun reads no later change, so each change is marked whatever is due
 * already; only while everything waits for a press that is yet to begin do two
 * tags stand for all that the change touches.
 */
function markChanged(
  store: LedgerStore,
  paper: string,
  piece: string,
  before: Row | null,
  at: number,
  corrects: boolean,
): void {
  const archive = store.archive(paper);
  const touched = store.isFullPressPending(paper)
    ? [tags.edition, tags.piece(piece)]
    : changedTags(archive, piece, before, rowOnAir(archive, piece));
  store.markStale(paper, touched);
  if (corrects || archive.hasCorrections(piece)) store.markStale(paper, [tags.corrections]);
  store.bumpEdition(paper, at);
}

function hasNotice({ state, published_at }: PieceState): boolean {
  return isWithdrawn({ state, published_at: published_at ?? 0 });
}

function rowOnAir(archive: Archive, piece: string): Row | null {
  const story = archive.storyById(piece);
  return story?.state === 'on_air' ? story : null;
}
