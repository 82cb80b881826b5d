import type { Archive, Story } from '../desk/archive.ts';
import type { GenerationEntry } from '../desk/ledger-entry.ts';
import type { FilingRun, LedgerStore, PieceState } from '../desk/ledger-store.ts';
import { DRAFT } from '../desk/ledger-store.ts';
import type { Generation } from '../ledger/chain.ts';
import { writerLine, writersOf } from '../ledger/writers.ts';
import { isoTime } from '../time.ts';
import type { Intake } from './intake.ts';

/** A store that is ended before its transaction. */
interface ImportStore extends LedgerStore {
  end(): void;
}

/**
 * The store in one transaction of an import into `paper`, with exclusive write access. It reads once what the
 * transaction does not change, knows the new piece that was filed last without reading it back, and writes together
 * what many filings add or change. It writes pending changes before any other read of the store.
 */
export function importStore(store: Intake['store'], paper: string): ImportStore {
  const run = store.filingRun(paper);
  const flushed = flushingFirst(run, store);
  /** The first revision of the piece that was filed last. */
  let filed: GenerationEntry | null = null;
  /** The state of that piece; null until it has a row. */
  let standing: PieceState | null = null;
  let filedAt: number | null = null;
  let nextDue: number | null = null;
  const archive = rememberedArchive(store.archive(paper), run, (id) =>
    filed?.piece.id === id ? { entry: filed, isDraft: standing === DRAFT } : null,
  );
  const hasPaper = store.hasPaper(paper);
  return {
    ...flushed,
    transact: store.transact,
    hasPaper: (slug) => (hasPaper && slug === paper) || flushed.hasPaper(slug),
    archive: (slug) => (slug === paper ? archive : flushed.archive(slug)),
    append(entry) {
      run.append(entry);
      if (entry.type !== 'generation') return;
      filed = entry.piece.revision === 1 ? entry : null;
      standing = null;
      filedAt = entry.paper === paper ? entry.at : filedAt;
    },
    lastFiledAt(slug) {
      if (slug !== paper) return flushed.lastFiledAt(slug);
      filedAt ??= flushed.lastFiledAt(slug);
      return filedAt;
    },
    nextSeq: run.nextSeq,
    setGeneration(entry) {
      run.setGeneration(entry);
      if (entry === filed) standing = DRAFT;
    },
    pieceState: (piece) => (piece === filed?.piece.id ? standing : flushed.pieceState(piece)),
    setPieceState(piece, state) {
      if (state.state === 'scheduled') nextDue = null;
      if (piece !== filed?.piece.id) return flushed.setPieceState(piece, state);
      standing = state;
      run.setNewState(filed, state);
    },
    bumpEdition: run.bumpEdition,
    markStale: run.markStale,
    logLeaf: run.logLeaf,
    end: run.end,
    scheduled(until) {
      nextDue ??= store.nextScheduled() ?? Number.POSITIVE_INFINITY;
      return until < nextDue ? [] : flushed.scheduled(until);
    },
    isFullPressPending: run.isFullPressPending,
  };
}

/** The same functions, each of which first writes what waits. */
function flushingFirst<Parts extends object>(run: Pick<FilingRun, 'flush'>, parts: Parts): Parts {
  const wrapped = Object.entries(parts).map(([name, part]) => {
    if (typeof part !== 'function') return [name, part];
    const flushed = (...given: unknown[]) => {
      run.flush();
      return part(...given);
    };
    return [name, flushed];
  });
  return Object.fromEntries(wrapped);
}

type FiledNow = (id: string) => { entry: GenerationEntry; isDraft: boolean } | null;

/** `filedNow` returns the piece that this transaction filed last, as a new one. */
function rememberedArchive(archive: Archive, run: Pick<FilingRun, 'isWaiting' | 'flush'>, filedNow: FiledNow): Archive {
  const flushed = flushingFirst(run, archive);
  let paper: ReturnType<Archive['paper']> | null = null;
  /** The slug that no piece had when it was asked for last. */
  let free: string | null = null;
  const personas = new Map<string, ReturnType<Archive['persona']>>();
  return {
    ...flushed,
    paper() {
      paper ??= archive.paper();
      return paper;
    },
    persona(slug) {
      if (!personas.has(slug)) personas.set(slug, archive.persona(slug));
      return personas.get(slug) ?? null;
    },
    hasSlug(slug) {
      const isTaken = run.isWaiting(slug) || archive.hasSlug(slug);
      free = isTaken ? null : slug;
      return isTaken;
    },
    storyBySlug(slug) {
      if (slug !== free) return flushed.storyBySlug(slug);
      // From now on it may be filed.
      free = null;
      return null;
    },
    piece: (id) => filedNow(id)?.entry.piece ?? flushed.piece(id),
    generations(id) {
      const now = filedNow(id);
      return now === null ? flushed.generations(id) : [generationOf(now.entry)];
    },
    storyById(id) {
      const now = filedNow(id);
      return now?.isDraft ? draftOf(now.entry) : flushed.storyById(id);
    },
    hasCorrections(id) {
      const now = filedNow(id);
      return now === null ? flushed.hasCorrections(id) : now.entry.piece.correction !== null;
    },
  };
}

function generationOf({ piece, seq, content_hash, receipt_hash, at, kid, receipt }: GenerationEntry): Generation {
  return { revision: piece.revision, seq, content_hash, receipt_hash, filed_at: isoTime(at), kid, receipt };
}

function draftOf({ piece, content_hash }: GenerationEntry): Story {
  const { correction: _correction, revised_at: _revised, ...members } = piece;
  const writers = writersOf(piece);
  return {
    ...members,
    content_hash,
    writers,
    writer: writerLine(writers, piece.language),
    published_at: 0,
    updated_at: 0,
    state: 'draft',
    corrections: [],
    scheduled_at: null,
    withdrawn_at: null,
    reason: null,
    headline_withheld: false,
  };
}
