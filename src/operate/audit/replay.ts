import { airDue, append } from '../../desk/append.ts';
import type { Archive, Reviewed, Story } from '../../desk/archive.ts';
import { type GenerationEntry, type LedgerEntry, replayClock } from '../../desk/ledger-entry.ts';
import { DRAFT, type LedgerStore, type PieceState } from '../../desk/ledger-store.ts';
import type { PaperBody } from '../../desk/papers/paper.ts';

/** The state of a paper after the entries. */
interface ReplayedPaper {
  slug: string;
  body: PaperBody;
  edition: number;
  changed_at: number;
  seq: number;
  removed_at: number | null;
}

/** The state of a piece after the entries, without its text. */
interface ReplayedPiece extends PieceState {
  id: string;
  paper: string;
  slug: string;
  category: string;
  persona: string;
  revision: number;
  awaits_review: boolean;
  awaits_evidence: boolean;
  reviewed_by: Reviewed | null;
}

interface Held extends ReplayedPiece {
  revised_at: number | null;
}

/**
 * Replays a ledger by the rules that appended it. Gives the rows that the archive's tables must have, without prose.
 */
export class Replay {
  readonly papers = new Map<string, ReplayedPaper>();
  /** The latest time of any entry, in ms. */
  newest = Number.NEGATIVE_INFINITY;
  readonly #pieces = new Map<string, Held>();
  readonly #scheduled = new Map<string, number>();
  /** No scheduled piece falls due before this time. */
  #nextDue = Number.POSITIVE_INFINITY;
  readonly #clock = replayClock();
  readonly #store: LedgerStore = this.#ledgerStore();

  enter(entry: LedgerEntry): void {
    append(this.#store, entry, this.#clock(entry));
    // A correction says that the entries before it were not as late as they say.
    if (entry.type === 'record' && entry.kind === 'clock') this.newest = entry.at;
    this.newest = Math.max(this.newest, entry.at);
  }

  /** Publishes the pieces that were scheduled for a time or earlier. */
  airUntil(time: number): void {
    airDue(this.#store, time);
  }

  get pieces(): ReadonlyMap<string, ReplayedPiece> {
    return this.#pieces;
  }

  #ledgerStore(): LedgerStore {
    return {
      transact: (work) => work(),
      append() {},
      archive: (paper) => this.#archive(paper),
      hasPaper: (paper) => this.papers.get(paper)?.removed_at === null,
      paperSlugs: () =>
        [...this.papers.values()].flatMap(({ slug, removed_at }) => (removed_at === null ? [slug] : [])),
      setPaper: (slug, parsed, at) => {
        // In the form that the database stores: without undefined members.
        const body = JSON.parse(JSON.stringify(parsed)) as PaperBody;
        const before = this.papers.get(slug);
        this.papers.set(slug, { edition: 0, changed_at: at, seq: 0, ...before, slug, body, removed_at: null });
      },
      removePaper: (slug, at) => {
        this.#paper(slug).removed_at = at;
      },
      bumpEdition: (slug, at) => {
        const paper = this.#paper(slug);
        paper.edition++;
        paper.changed_at = Math.max(paper.changed_at, at);
      },
      foundedAt: () => 0,
      lastFiledAt: () => 0,
      setFact() {},
      capFacts() {},
      capEvidence() {},
      nextEvidenceSeq: () => 0,
      setEvidence() {},
      evidenceBefore: () => null,
      waitingFor: () => [],
      takeFindings: () => [],
      awaitsEvidence: (piece) => this.#pieces.get(piece)?.awaits_evidence === true,
      setAwaitsEvidence: (id, awaits_evidence) => {
        const piece = this.#pieces.get(id);
        if (piece !== undefined) piece.awaits_evidence = awaits_evidence;
      },
      queuePieceSources() {},
      queueFactSource() {},
      queuePaperSources() {},
      nextFactSeq: () => 0,
      nextReviewSeq: () => 0,
      awaitsReview: (piece) => this.#pieces.get(piece)?.awaits_review === true,
      setReviewed: (id, reviewed_by) => {
        const piece = this.#pieces.get(id);
        if (piece !== undefined) Object.assign(piece, { awaits_review: false, reviewed_by });
      },
      setChangeRequest() {},
      nextSeq: (slug) => this.#paper(slug).seq + 1,
      setGeneration: (entry) => this.#setGeneration(entry),
      pieceState: (piece) => this.#pieces.get(piece) ?? null,
      setPieceState: (piece, state) => this.#setPieceState(piece, state),
      datedAfter: (slug, time) =>
        [...this.#pieces.values()].flatMap(({ id, paper, published_at, updated_at, withdrawn_at, reviewed_by }) => {
          const newest = Math.max(published_at ?? 0, updated_at ?? 0, withdrawn_at ?? 0, reviewed_by?.at ?? 0);
          return paper === slug && newest > time ? [id] : [];
        }),
      capReviewed: (slug, time) => {
        for (const { paper, reviewed_by } of this.#pieces.values())
          if (paper === slug && reviewed_by !== null) reviewed_by.at = Math.min(reviewed_by.at, time);
      },
      capChangedAt: (slug, time) => {
        const paper = this.#paper(slug);
        paper.changed_at = Math.min(paper.changed_at, time);
      },
      scheduled: (until) => this.#due(until),
      // A replay neither presses nor notifies nor logs.
      isFullPressPending: () => true,
      markStale() {},
      emit() {},
      logLeaf() {},
    };
  }

  #paper(slug: string): ReplayedPaper {
    const paper = this.papers.get(slug);
    if (paper === undefined) throw new Error(`there is no paper ${slug} yet`);
    return paper;
  }

  #setGeneration({ paper, seq, piece, needs_review }: GenerationEntry): void {
    this.#paper(paper).seq = seq;
    const { id, slug, category, persona, revision, revised_at } = piece;
    const before = this.#pieces.get(id) ?? DRAFT;
    const review = { awaits_review: needs_review === true, awaits_evidence: false, reviewed_by: null };
    this.#pieces.set(id, { ...before, id, paper, slug, category, persona, revision, revised_at, ...review });
  }

  #setPieceState(id: string, pieceState: PieceState): void {
    const piece = this.#pieces.get(id);
    if (piece === undefined) return;
    const { state, published_at, updated_at, scheduled_at, withdrawn_at, reason, headline_withheld } = pieceState;
    Object.assign(piece, {
      state,
      published_at,
      updated_at,
      scheduled_at,
      withdrawn_at,
      reason,
      headline_withheld,
    });
    this.#scheduled.delete(id);
    if (state !== 'scheduled' || scheduled_at === null) return;
    this.#scheduled.set(id, scheduled_at);
    this.#nextDue = Math.min(this.#nextDue, scheduled_at);
  }

  #waits(id: string): boolean {
    const piece = this.#pieces.get(id);
    return piece?.awaits_review === true || piece?.awaits_evidence === true;
  }

  /** In database order: by time, then by id. */
  #due(until: number): { paper: string; piece: string; at: number }[] {
    if (until < this.#nextDue) return [];
    const due = [...this.#scheduled].filter(([id, at]) => at <= until && !this.#waits(id));
    this.#nextDue = [...this.#scheduled.values()].reduce(
      (next, at) => (at > until && at < next ? at : next),
      Number.POSITIVE_INFINITY,
    );
    return due
      .sort(([a, at], [b, bt]) => at - bt || (a < b ? -1 : 1))
      .map(([piece, at]) => ({ paper: this.#pieces.get(piece)?.paper ?? '', piece, at }));
  }

  /** The members of an archive that the rules read when they append; members for press, log or mails are empty. */
  #archive(paper: string): Archive {
    const held = (id: string): Held | null => {
      const piece = this.#pieces.get(id);
      return piece?.paper === paper ? piece : null;
    };
    const read: Partial<Archive> = {
      page: () => null,
      cast: () => null,
      hasArchived: () => false,
      hasCorrections: () => false,
      aliasesOf: () => [],
      generations: () => [],
      receiptsOnAir: () => [],
      clockNotes: () => [],
      reviewNotes: () => [],
      fact: () => null,
      citations: () => [],
      factCount: () => 0,
      factRanks: () => [],
      citingOnAir: () => [],
      factReceiptsOf: () => [],
      factReceiptsOnAir: () => [],
      evidenceNotesOf: () => [],
      paper: () => {
        const { body, slug, edition, changed_at } = this.#paper(paper);
        return { ...body, slug, edition, changed_at };
      },
      storyById: (id) => storyOf(held(id)),
      row: (id) => storyOf(held(id)),
      piece: (id) => {
        const piece = held(id);
        return piece === null ? null : { ...EMPTY, ...piece };
      },
    };
    return read as Archive;
  }
}

/** The text of a piece, which does not affect its state. */
const EMPTY = {
  headline: '',
  dek: '',
  prose: '',
  cited_facts: [],
  kind: 'news' as const,
  byline: { name: '', title: '' },
  language: 'en',
  image: null,
  credit: null,
  writers: [],
  writer: null,
  authors: [],
  written_by: null,
  provenance: null,
  tags: [],
  aliases: [],
  word_count: 0,
  correction: null,
  change_request: null,
  citations: [],
  evidence: [],
};

function storyOf(piece: Held | null): Story | null {
  if (piece === null) return null;
  const { published_at, updated_at } = piece;
  return {
    ...EMPTY,
    ...piece,
    content_hash: '',
    corrections: [],
    published_at: published_at ?? 0,
    updated_at: updated_at ?? 0,
  };
}
