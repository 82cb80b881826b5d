import canonicalize from 'canonicalize';
import type { LogService } from '../proof/log/leaf.ts';
import { daySpan } from '../proof/time.ts';
import { Fault } from '../shared/fault.ts';
import { type Archive, isWithdrawn, type Row } from './archive.ts';
import { type ClockBody, capTimes, clockLeaf, statementOf } from './clock-correction.ts';
import { changedDependencies, dependencies } from './dependencies.ts';
import { isNews, type StoryEvent } from './event.ts';
import { type EvidenceBody, evidenceOf, subjectNamed } from './evidence.ts';
import { factOf } from './fact.ts';
import { factDependencies } from './fact-dependencies.ts';
import type { AiringEntry, GenerationEntry, LedgerEntry, RecordEntry, WithdrawalEntry } from './ledger-entry.ts';
import { DRAFT, type LedgerStore, type PieceState } from './ledger-store.ts';
import {
  isPublic,
  logAiring,
  logEvidence,
  logFacts,
  logKey,
  logPaper,
  logWithdrawal,
  receiptLeaf,
} from './log-leaves.ts';
import { type Cast, withoutFileProperties } from './papers/cast.ts';
import { type Page, PageBody, sameInMenus } from './papers/page.ts';
import { imprintPage, PaperBody } from './papers/paper.ts';
import { type ReviewBody, reviewOf, showsReview } from './review.ts';

/**
 * Appends an entry to the ledger and applies it: the piece's state, the edition's number, the stale dependencies,
 * events for subscribers, and the leaves of the transparency log. Filing, airing and `ledger import` all go through
 * here, so a replayed ledger gives the same archive; a replay passes a store that drops events. Call it in a
 * transaction. `now` is the clock's time; the entry's own time is later when the clock was set back.
 */
export function append(store: LedgerStore, entry: LedgerEntry, now = entry.at): void {
  requirePaperOf(store, entry);
  // First applies the scheduled airings that fell due before this entry, and none after its time.
  airDue(store, Math.min(now, entry.at));
  // These compare with the previous records, so they must run before the entry is applied.
  if (entry.type === 'record' && entry.kind === 'cast') emitCast(store, entry);
  const page = entry.type === 'record' && entry.kind === 'page' ? store.archive(entry.paper).page(entry.name) : null;
  store.append(entry);
  switch (entry.type) {
    case 'record':
      // The desk's pages show the names of its keys.
      if (entry.kind === 'signing-name') return entry.name === 'desk' ? markKeysStale(store) : undefined;
      if (entry.kind === 'clock') return applyClock(store, entry);
      if (entry.kind === 'review') return applyReview(store, entry);
      if (entry.kind === 'fact') return applyFact(store, entry);
      if (entry.kind === 'evidence') return applyEvidence(store, entry);
      return applyRecord(store, entry, page);
    case 'generation':
      return applyGeneration(store, entry);
    case 'airing':
      return applyAiring(store, entry);
    case 'withdrawal':
      return applyWithdrawal(store, entry);
    case 'key':
    case 'retirement':
      logKey(store, entry);
      return markKeysStale(store);
  }
}

/** Throws `conflict` for an entry of a removed paper: the caller may have checked the paper before it was removed. */
function requirePaperOf(store: LedgerStore, entry: LedgerEntry): void {
  if (!('paper' in entry) || entry.paper === '' || store.hasPaper(entry.paper)) return;
  // The receipts of a removed paper stay.
  if (entry.type === 'record' && entry.kind === 'clock') return;
  if (entry.type === 'record' && entry.kind === 'paper' && entry.body !== null) return;
  throw new Fault('conflict', `the paper ${entry.paper} was removed`);
}

/** Publishes pieces that were scheduled for `now` or earlier and wait for no review or evidence. Returns their ids. */
export function airDue(store: LedgerStore, now: number): string[] {
  const due = store.scheduled(now);
  for (const { paper, piece, at } of due) putOnAir(store, paper, piece, at, at);
  return due.map(({ piece }) => piece);
}

/** A clock correction of the records service changes nothing on the desk. */
function applyClock(store: LedgerStore, { paper, name, body }: RecordEntry): void {
  const { note, aired } = body as ClockBody;
  for (const piece of aired) {
    const state = store.pieceState(piece);
    if (state?.state === 'scheduled') putOnAir(store, paper, piece, state.scheduled_at ?? 0, state.scheduled_at ?? 0);
  }
  store.logLeaf(name as LogService, clockLeaf(store, note));
  if (paper !== '') capTimes(store, paper, Date.parse(statementOf(note).true_time));
}

/** The log has only the hash of a review, because a name in the log could never be removed. */
function applyReview(store: LedgerStore, entry: RecordEntry): void {
  const { paper, name: piece, at } = entry;
  const { reviewed_by, role, reviewed_at, revision } = reviewOf(entry);
  store.logLeaf('desk', receiptLeaf((entry.body as ReviewBody).note, false));
  const archive = store.archive(paper);
  const before = rowOnAir(archive, piece);
  if (archive.storyById(piece)?.revision !== revision) return;
  store.setReviewed(piece, { name: reviewed_by, role, at: Date.parse(reviewed_at) });
  airReleased(store, paper, piece, at);
  if (before !== null && showsReview(archive.paper()))
    markChanged(store, paper, piece, before, at, false, citedKeys(store, paper, piece));
}

/** A new version of a fact is public when a public piece on air cites the fact; it changes what those pieces show. */
function applyFact(store: LedgerStore, entry: RecordEntry): void {
  const { paper, name: key, at } = entry;
  const { receipt, ...fact } = factOf(entry);
  store.setFact(entry);
  const archive = store.archive(paper);
  const isCited = (archive.fact(key)?.cited ?? 0) > 0;
  store.logLeaf('desk', receiptLeaf(receipt, isCited && isPublic(store, paper)));
  if (readsSources(store, paper)) store.queueFactSource(paper, key, at);
  if (fact.version === 1) return;
  const citing = archive.citingOnAir(key);
  const stale = citing.map(({ id }) => dependencies.citations(id));
  store.markStale(paper, [dependencies.edition, ...factDependencies(archive, { changed: [key] }), ...stale]);
  store.bumpEdition(paper, at);
  if (isCited)
    store.emit({
      type: 'fact.corrected',
      paper,
      at,
      fact,
      sections: [...new Set(citing.map(({ category }) => category))],
    });
}

/** Evidence is public when a public piece on air cites its fact; it changes what those pieces show. */
function applyEvidence(store: LedgerStore, entry: RecordEntry): void {
  const { paper, at } = entry;
  const { note, released } = entry.body as EvidenceBody;
  const { subject, fact_version } = evidenceOf(entry);
  const textOf = () => store.evidenceBefore(paper, entry.name, fact_version)?.text ?? null;
  const before = textOf();
  store.setEvidence(entry);
  const isOnAir = 'piece' in subject && store.pieceState(subject.piece)?.state === 'on_air';
  const ofPiece = isOnAir ? [subject.piece] : [];
  const citing =
    'piece' in subject
      ? ofPiece
      : store
          .archive(paper)
          .citingOnAir(subject.claim_key)
          .map(({ id }) => id);
  store.logLeaf('desk', receiptLeaf(note, citing.length > 0 && isPublic(store, paper)));
  for (const piece of released) {
    store.setAwaitsEvidence(piece, false);
    airReleased(store, paper, piece, at);
  }
  // A replay does not know who cites a fact.
  if ('piece' in subject && !isOnAir) return;
  const shown = citing.flatMap((id) => [dependencies.citations(id), dependencies.proof(id)]);
  const texts = [before, textOf()].flatMap((digest) => (digest === null ? [] : [dependencies.source(digest)]));
  store.markStale(paper, [dependencies.edition, ...shown, ...texts]);
  store.bumpEdition(paper, at);
  emitFindings(store, paper, at, { fact: entry.name });
}

/** Emits findings about a named fact, or about the facts that a piece cites, as soon as they concern a piece on air. */
function emitFindings(store: LedgerStore, paper: string, at: number, of: { fact: string } | { piece: string }): void {
  if (!readsSources(store, paper)) return;
  const archive = store.archive(paper);
  for (const found of store.takeFindings(paper, of)) {
    const subject = subjectNamed(found.subject);
    const piece = 'piece' in subject ? archive.row(subject.piece) : null;
    const citing = 'piece' in subject ? [] : archive.citingOnAir(subject.claim_key);
    const sections = [...new Set([...(piece === null ? [] : [piece]), ...citing].map(({ category }) => category))];
    store.emit({ type: 'fact.to_revise', paper, at, found, slug: piece?.slug ?? null, sections });
  }
}

function readsSources(store: LedgerStore, paper: string): boolean {
  return store.hasPaper(paper) && store.archive(paper).paper().sources?.read === true;
}

/** Publishes a scheduled piece that no longer waits for anything, if its time has passed meanwhile. */
function airReleased(store: LedgerStore, paper: string, piece: string, at: number): void {
  if (store.awaitsReview(piece) || store.awaitsEvidence(piece)) return;
  const { state, scheduled_at } = store.pieceState(piece) ?? DRAFT;
  if (state === 'scheduled' && (scheduled_at ?? 0) <= at) putOnAir(store, paper, piece, at, at);
}

function markKeysStale(store: LedgerStore): void {
  for (const paper of store.paperSlugs()) store.markStale(paper, [dependencies.keys]);
}

/** `pageBefore` is the version of the paper's own page that the record replaces. */
function applyRecord(store: LedgerStore, { paper, kind, name, body, at }: RecordEntry, pageBefore: Page | null): void {
  if (kind === 'paper' && body === null) {
    store.removePaper(paper, at);
    // The press of a removed paper removes its tree.
    store.markStale(paper, [dependencies.config]);
  } else if (kind === 'paper') {
    const wasPublic = isPublic(store, paper);
    const readBefore = readsSources(store, paper);
    store.setPaper(paper, PaperBody.parse(body), at);
    logPaper(store, paper, wasPublic, at);
    if (!readBefore && readsSources(store, paper)) store.queuePaperSources(paper, at);
    store.markStale(paper, [dependencies.config]);
  } else if (kind === 'persona') {
    store.markStale(paper, [dependencies.masthead, dependencies.persona(name), dependencies.newestBy(name)]);
  } else if (kind === 'cast') {
    store.markStale(paper, [dependencies.cast, dependencies.day(name)]);
  } else if (kind === 'page') {
    const page = PageBody.nullable().parse(body);
    store.markStale(paper, [dependencies.page(name), dependencies.pages]);
    const inFooter = imprintPage(store.archive(paper).paper()) === name;
    if (!sameInMenus(pageBefore, page, inFooter)) store.markStale(paper, [dependencies.config]);
  } else if (kind === 'front') {
    store.markStale(paper, [dependencies.front]);
  } else {
    store.markStale(paper, [dependencies.media(name)]);
  }
  store.markStale(paper, [dependencies.edition]);
  store.bumpEdition(paper, at);
}

function applyGeneration(store: LedgerStore, entry: GenerationEntry): void {
  // Null for a new piece. A generation does not change it.
  const current = store.pieceState(entry.piece.id);
  const isShown = entry.piece.provenance !== null && current !== null && current.published_at !== null;
  const hadArchived = !isShown || store.archive(entry.paper).hasArchived();
  if (current !== null && current.published_at !== null) markAliases(store, entry.paper, entry.piece);
  // When a withdrawn piece is filed again under another persona, the counts of both personas change.
  const had =
    current !== null && hasNotice(current) ? store.archive(entry.paper).row(entry.piece.id)?.persona : undefined;
  if (had !== undefined && had !== entry.piece.persona)
    store.markStale(entry.paper, [had, entry.piece.persona].map(dependencies.recordOf));
  const before = current?.state === 'on_air' ? rowOnAir(store.archive(entry.paper), entry.piece.id) : null;
  const waited = store.awaitsReview(entry.piece.id) || store.awaitsEvidence(entry.piece.id);
  const cited = before === null ? [] : citedKeys(store, entry.paper, entry.piece.id);
  store.setGeneration(entry);
  store.setAwaitsEvidence(entry.piece.id, entry.awaits_evidence === true);
  if (readsSources(store, entry.paper)) store.queuePieceSources(entry.piece.id, entry.at);
  const isShownNow = before !== null && isPublic(store, entry.paper);
  store.logLeaf('desk', receiptLeaf(entry.receipt, isShownNow));
  if (isShownNow) {
    logFacts(store, entry.paper, entry.piece.id);
    logEvidence(store, entry.paper, entry.piece.id);
  }
  if (current === null) return;
  markArchived(store, entry.paper, hadArchived);
  // The notice of a withdrawn piece shows its headline.
  if (hasNotice(current)) markChanged(store, entry.paper, entry.piece.id, null, entry.at, true);
  // A revision by the desk itself releases an agent's piece from review.
  if (waited) airReleased(store, entry.paper, entry.piece.id, entry.at);
  if (before === null) return;
  // A revision made before the piece went on air is part of the first published version.
  const updated_at = Math.max(before.published_at, entry.piece.revised_at ?? entry.at);
  store.setPieceState(entry.piece.id, { ...current, updated_at });
  markChanged(store, entry.paper, entry.piece.id, before, entry.at, entry.piece.correction !== null, cited);
  emitFindings(store, entry.paper, entry.at, { piece: entry.piece.id });
  // A revision made long before it was filed is not news.
  if (!isNews(entry.piece.revised_at ?? entry.at, entry.at)) return;
  const left = before.category === entry.piece.category ? null : before.category;
  emitStory(store, { type: 'story.revised', paper: entry.paper, at: entry.at, left }, entry.piece.id);
}

function applyAiring(store: LedgerStore, entry: AiringEntry): void {
  const { paper, piece, on_air_at, at } = entry;
  store.setAwaitsEvidence(piece, entry.awaits_evidence === true);
  const waits = store.awaitsReview(piece) || store.awaitsEvidence(piece);
  if (on_air_at <= at && !waits) return putOnAir(store, paper, piece, on_air_at, at);
  const current = store.pieceState(piece);
  if (current === null) return;
  // A withdrawn piece keeps its notice until it is back on air.
  const { withdrawn_at, reason, headline_withheld } = hasNotice(current) ? current : DRAFT;
  const notice = { withdrawn_at, reason, headline_withheld };
  store.setPieceState(piece, { ...current, state: 'scheduled', scheduled_at: on_air_at, ...notice });
}

/**
 * Marks the list of earlier addresses as stale if a revision of a piece with a page changes it. Call it before the
 * revision is applied.
 */
function markAliases(store: LedgerStore, paper: string, { id, aliases }: GenerationEntry['piece']): void {
  const before = store.archive(paper).aliasesOf(id);
  if (before.length > 0 || aliases.length > 0) store.markStale(paper, [dependencies.aliases]);
}

/** Marks every page as stale when the first archived piece goes on air: until then, all pieces cite their sources. */
function markArchived(store: LedgerStore, paper: string, hadArchived: boolean): void {
  if (!hadArchived && store.archive(paper).hasArchived()) store.markStale(paper, [dependencies.config]);
}

function putOnAir(store: LedgerStore, paper: string, piece: string, onAirAt: number, at: number): void {
  const current = store.pieceState(piece);
  if (current === null) return;
  const published_at = current.published_at ?? onAirAt;
  const again = current.published_at !== null;
  const hadArchived = again || store.archive(paper).hasArchived();
  const revised = store.archive(paper).piece(piece)?.revised_at ?? 0;
  store.setPieceState(piece, {
    state: 'on_air',
    published_at,
    updated_at: again ? at : Math.max(published_at, revised),
    scheduled_at: null,
    withdrawn_at: null,
    reason: null,
    headline_withheld: false,
  });
  store.setAwaitsEvidence(piece, false);
  logAiring(store, paper, piece);
  if (!again && store.archive(paper).aliasesOf(piece).length > 0) store.markStale(paper, [dependencies.aliases]);
  markArchived(store, paper, hadArchived);
  markChanged(store, paper, piece, null, at, again);
  // A piece with an old date is not news. One that returns is announced whatever its date, because its withdrawal was.
  if (again || isNews(onAirAt, at)) emitStory(store, { type: 'story.aired', paper, at, left: null }, piece);
  emitFindings(store, paper, at, { piece });
}

function applyWithdrawal(store: LedgerStore, entry: WithdrawalEntry): void {
  const { paper, piece, reason, at } = entry;
  const current = store.pieceState(piece);
  if (current === null) return;
  const before = rowOnAir(store.archive(paper), piece);
  // A piece that was never on air needs no notice: it becomes a draft again.
  const state = current.published_at === null ? 'draft' : 'withdrawn';
  // A withdrawn piece whose schedule is cancelled keeps the time of its withdrawal.
  const withdrawn_at = hasNotice(current) ? current.withdrawn_at : at;
  // A headline that was withheld once stays so until the piece is on air again.
  const withholds = state === 'withdrawn' && entry.withhold_headline === true && !current.headline_withheld;
  const headline_withheld = withholds || current.headline_withheld;
  store.setPieceState(piece, { ...current, state, scheduled_at: null, withdrawn_at, reason, headline_withheld });
  store.setAwaitsEvidence(piece, false);
  const cited = before === null ? [] : citedKeys(store, paper, piece);
  if (state === 'withdrawn') markChanged(store, paper, piece, before, at, true, cited);
  // When only the schedule of a withdrawn piece is cancelled, its withdrawal was logged and announced before.
  if (before !== null) logWithdrawal(store, entry);
  const gone = before ?? (withholds ? store.archive(paper).row(piece) : null);
  if (gone !== null) store.emit({ type: 'story.withdrawn', paper, at, story: gone, reason, headline_withheld });
}

/** The keys of the facts that the newest revision of a piece cites. */
function citedKeys(store: LedgerStore, paper: string, piece: string): string[] {
  return store
    .archive(paper)
    .citations(piece)
    .map(({ claim_key }) => claim_key);
}

/** Marks the facts that a piece cites as stale: their pages list it. `before` are the keys it cited on air before. */
function markFacts(store: LedgerStore, paper: string, piece: string, before: readonly string[]): void {
  // The pending full press prints them all.
  if (store.isFullPressPending(paper)) return;
  const changed = new Set([...before, ...citedKeys(store, paper, piece)]);
  if (changed.size === 0) return;
  const had = new Set(before);
  const isMoved = (key: string, cited: number) => cited === 0 || (cited === 1 && !had.has(key));
  const stale = factDependencies(store.archive(paper), { changed, isMoved });
  store.markStale(paper, [dependencies.citations(piece), ...stale]);
}

/**
 * Counts a change that readers see and marks its dependencies as stale. A press works from a snapshot, so each change
 * is marked even if its dependencies are already stale. While a full press is pending, two dependencies are enough,
 * because everything will be printed.
 */
function markChanged(
  store: LedgerStore,
  paper: string,
  piece: string,
  before: Row | null,
  at: number,
  corrects: boolean,
  cited: readonly string[] = [],
): void {
  const archive = store.archive(paper);
  const stale = store.isFullPressPending(paper)
    ? [dependencies.edition, dependencies.piece(piece)]
    : changedDependencies(archive, piece, before, rowOnAir(archive, piece));
  store.markStale(paper, stale);
  markFacts(store, paper, piece, cited);
  if (corrects || archive.hasCorrections(piece)) store.markStale(paper, [dependencies.corrections]);
  store.bumpEdition(paper, at);
}

function hasNotice({ state, published_at }: PieceState): boolean {
  return isWithdrawn({ state, published_at: published_at ?? 0 });
}

function rowOnAir(archive: Archive, piece: string): Row | null {
  return archive.storyById(piece)?.state === 'on_air' ? archive.row(piece) : null;
}

/** Emits an event about a piece on air, as it is now. */
function emitStory(store: LedgerStore, event: Omit<StoryEvent, 'story'>, piece: string): void {
  const story = rowOnAir(store.archive(event.paper), piece);
  if (story !== null) store.emit({ ...event, story });
}

/** Emits `cast.published`, unless for a past day or a remeasured file. Call it before the record is applied. */
function emitCast(store: LedgerStore, { paper, name, body, at }: RecordEntry): void {
  const before = store.archive(paper).cast(name);
  const cast = { ...(body as Cast), day: name };
  const isNew =
    before === null
      ? isNews(daySpan(name).until, at)
      : canonicalize(withoutFileProperties(before)) !== canonicalize(withoutFileProperties(cast));
  if (isNew) store.emit({ type: 'cast.published', paper, at, cast });
}
