import type { LogService } from '../proof/log/leaf.ts';
import type { Archive, ChangeRequest, Reviewed, Story } from './archive.ts';
import type { DeskEvent } from './event.ts';
import type { FactToRevise, KnownEvidence } from './evidence.ts';
import type { GenerationEntry, LedgerEntry, RecordEntry } from './ledger-entry.ts';
import type { PaperBody } from './papers/paper.ts';

/** Whether and when a piece is on air. Times in ms. */
export interface PieceState
  extends Pick<Story, 'state' | 'scheduled_at' | 'withdrawn_at' | 'reason' | 'headline_withheld'> {
  published_at: number | null;
  updated_at: number | null;
}

/** The state of a piece when its first revision is filed. */
export const DRAFT: PieceState = {
  state: 'draft',
  published_at: null,
  updated_at: null,
  scheduled_at: null,
  withdrawn_at: null,
  reason: null,
  headline_withheld: false,
};

/** The part of the store that the desk writes to. */
export interface LedgerStore {
  /** Runs `work` as one transaction, serialized with those of all processes. */
  transact<T>(work: () => T): T;
  /** Appends an entry without applying it. */
  append(entry: LedgerEntry): void;
  archive(paper: string): Archive;
  hasPaper(paper: string): boolean;
  paperSlugs(): string[];
  /** Adds a paper, or changes it. A removed paper is back. */
  setPaper(paper: string, body: PaperBody, at: number): void;
  /** Marks a paper as removed: from now on it does not exist, except for `setPaper`. */
  removePaper(paper: string, at: number): void;
  /** Counts a change that readers can see. */
  bumpEdition(paper: string, at: number): void;
  /** The number of the next receipt. */
  nextSeq(paper: string): number;
  /** When the paper's first record was filed, in ms; 0 before it. */
  foundedAt(paper: string): number;
  /** `filed_at` of the paper's newest receipt, in ms; 0 before the first. */
  lastFiledAt(paper: string): number;
  /** Makes the version that an entry brings the newest of its fact, which the pieces filed after it cite. */
  setFact(entry: RecordEntry): void;
  /** The number of the next version of any fact of the paper. */
  nextFactSeq(paper: string): number;
  /** The number of the paper's next review. */
  nextReviewSeq(paper: string): number;
  /**
   * Makes the generation the newest one of its piece, which has no review yet and cites facts in their newest versions,
   * and advances the sequence number.
   */
  setGeneration(entry: GenerationEntry): void;
  pieceState(piece: string): PieceState | null;
  setPieceState(piece: string, state: PieceState): void;
  /** The number of the paper's next reading of a source. */
  nextEvidenceSeq(paper: string): number;
  /** Makes a reading the newest of its fact. */
  setEvidence(entry: RecordEntry): void;
  /** What is known of a version of a fact; null before it was read. */
  evidenceBefore(paper: string, subject: string, version: number): KnownEvidence | null;
  /** The pieces that wait for evidence of a version of a fact. */
  waitingFor(paper: string, subject: string, version: number): string[];
  /** Facts to be revised, of this name or cited by this piece, of which nobody was told. They count as told then. */
  takeFindings(paper: string, of: { fact: string } | { piece: string }): FactToRevise[];
  /** Whether a scheduled piece stays off the air until its sources were read. */
  awaitsEvidence(piece: string): boolean;
  setAwaitsEvidence(piece: string, awaits: boolean): void;
  /** Has the sources of a piece's newest revision read, or of a fact's newest version, or of all that a paper cites. */
  queuePieceSources(piece: string, at: number): void;
  queueFactSource(paper: string, claim_key: string, at: number): void;
  queuePaperSources(paper: string, at: number): void;
  /** Whether a piece stays off the air until its newest revision is approved. */
  awaitsReview(piece: string): boolean;
  /** Stores the approval of a piece's newest revision, which then waits no more. */
  setReviewed(piece: string, reviewed: Reviewed): void;
  /** Stores what a desk asks to be changed in the newest revision. It is no part of the ledger. */
  setChangeRequest(piece: string, request: ChangeRequest): void;
  /** The pieces of a paper, removed or not, that went on air, were changed, reviewed or withdrawn after a time. */
  datedAfter(paper: string, time: number): string[];
  /** Lowers the times of the reviews of a paper's pieces to this one, where they are later. */
  capReviewed(paper: string, time: number): void;
  /** Lowers the times of a paper's facts to this one, where they are later. */
  capFacts(paper: string, time: number): void;
  /** The same of the readings of sources. */
  capEvidence(paper: string, time: number): void;
  /** Lowers the time of a paper's last change to this one, if it is later. */
  capChangedAt(paper: string, time: number): void;
  /** Scheduled pieces that are due at or before `until` and wait for no review and no evidence, earliest first. */
  scheduled(until: number): { paper: string; piece: string; at: number }[];
  /** Whether the whole paper is stale and no press has started on it. */
  isFullPressPending(paper: string): boolean;
  /** Marks the outputs that read these dependencies as stale. */
  markStale(paper: string, dependencies: Iterable<string>): void;
  /** Queues an event for subscribers. It is kept only if the transaction commits. */
  emit(event: DeskEvent): void;
  /**
   * Appends an entry to a service's transparency log, unless the log has it. It is kept only if the transaction
   * commits.
   */
  logLeaf(log: LogService, entry: string): void;
}
