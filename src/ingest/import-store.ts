import type { Archive, Story } from '../desk/archive.ts';
import type { GenerationEntry } from '../desk/ledger-entry.ts';
import type { LedgerStore, PieceState } from '../desk/ledger-store.ts';
import { DRAFT } from '../desk/ledger-store.ts';
import type { Generation } from '../ledger/chain.ts';
import { creditedWriter } from '../ledger/credited-writer.ts';
import { isoTime } from '../time.ts';
import type { Intake } from './intake.ts';

/** A store that is ended before its transaction. */
interface ImportStore extends LedgerStore {
  end(): void;
}

/**
 * The store in one transaction of an import into `paper`, in which nobody else writes. It reads once what the transaction
 * does not change, knows the new piece that was filed last without reading it back, and writes at its end what all
 * filings change. Anything else it asks the store.
 */
export function importStore(store: Intake['store'], paper: string): ImportStore {
  const run = store.filingRun(paper);
  /** The first revision of the piece that was filed last. */
  let filed: GenerationEntry | null = null;
  /** How that piece stands: null until it has a row. */
  let standing: PieceState | null = null;
  let filedAt: number | null = null;
  let nextDue: number | null = null;
  const archive = rememberedArchive(store.archive(paper), (id) =>
    filed?.piece.id === id ? { entry: filed, isDraft: standing === DRAFT } : null,
  );
  const hasPaper = store.hasPaper(paper);
  return {
    ...store,
    hasPaper: (slug) => (hasPaper && slug === paper) || store.hasPaper(slug),
    archive: (slug) => (slug === paper ? archive : store.archive(slug)),
    append(entry) {
      store.append(entry);
      if (entry.type !== 'generation') return;
      filed = entry.piece.revision === 1 ? entry : null;
      standing = null;
      filedAt = entry.paper === paper ? entry.at : filedAt;
    },
    lastFiledAt(slug) {
      if (slug !== paper) return store.lastFiledAt(slug);
      filedAt ??= store.lastFiledAt(slug);
      return filedAt;
    },
    nextSeq: run.nextSeq,
    setGeneration(entry) {
      run.setGeneration(entry);
      if (entry === filed) standing = DRAFT;
    },
    pieceState: (piece) => (piece === filed?.piece.id ? standing : store.pieceState(piece)),
    setPieceState(piece, state) {
      if (state.state === 'scheduled') nextDue = null;
      if (piece !== filed?.piece.id) return store.setPieceState(piece, state);
      standing = state;
      run.setNewState(filed, state);
    },
    bumpEdition: run.bumpEdition,
    markStale: run.markStale,
    logLeaf: run.logLeaf,
    end: run.end,
    scheduled(until) {
      nextDue ??= store.nextScheduled() ?? Number.POSITIVE_INFINITY;
      return until < nextDue ? [] : store.scheduled(until);
    },
    isFullPressPending: run.isFullPressPending,
  };
}

type FiledNow = (id: string) => { entry: GenerationEntry; isDraft: boolean } | null;

/** `filedNow` returns the piece that this transaction filed last, as a new one. */
function rememberedArchive(archive: Archive, filedNow: FiledNow): Archive {
  let paper: ReturnType<Archive['paper']> | null = null;
  /** The slug that no piece had when it was asked for last. */
  let free: string | null = null;
  const personas = new Map<string, ReturnType<Archive['persona']>>();
  return {
    ...archive,
    paper() {
      paper ??= archive.paper();
      return paper;
    },
    persona(slug) {
      if (!personas.has(slug)) personas.set(slug, archive.persona(slug));
      return personas.get(slug) ?? null;
    },
    hasSlug(slug) {
      const isTaken = archive.hasSlug(slug);
      free = isTaken ? null : slug;
      return isTaken;
    },
    storyBySlug(slug) {
      if (slug !== free) return archive.storyBySlug(slug);
      // From now on it may be filed.
      free = null;
      return null;
    },
    piece: (id) => filedNow(id)?.entry.piece ?? archive.piece(id),
    generations(id) {
      const now = filedNow(id);
      return now === null ? archive.generations(id) : [generationOf(now.entry)];
    },
    storyById(id) {
      const now = filedNow(id);
      return now?.isDraft ? draftOf(now.entry) : archive.storyById(id);
    },
    hasCorrections(id) {
      const now = filedNow(id);
      return now === null ? archive.hasCorrections(id) : now.entry.piece.correction !== null;
    },
  };
}

function generationOf({ piece, seq, content_hash, receipt_hash, at, kid, receipt }: GenerationEntry): Generation {
  return { revision: piece.revision, seq, content_hash, receipt_hash, filed_at: isoTime(at), kid, receipt };
}

function draftOf({ piece, content_hash }: GenerationEntry): Story {
  const { correction: _correction, revised_at: _revised, ...members } = piece;
  return {
    ...members,
    content_hash,
    writer: piece.written_by ?? creditedWriter(piece.credit),
    published_at: 0,
    updated_at: 0,
    state: 'draft',
    corrections: [],
    scheduled_at: null,
    withdrawn_at: null,
    reason: null,
  };
}
