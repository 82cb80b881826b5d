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
  /** Adds or changes a paper. Restores a removed one. */
  setPaper(paper: string, body: PaperBody, at: number): void;
  /** Marks a paper as removed: until the next `setPaper`, it no longer exists. */
  removePaper(paper: string, at: number): void;
  /** Counts a change that readers can see. */
  bumpEdition(paper: string, at: number): void;
  /** The number of the next receipt. */
  nextSeq(paper: string): number;
  /** When the paper's first record was filed, in ms; 0 before it. */
  foundedAt(paper: string): number;
  /** `filed_at` of the paper's newest receipt, in ms; 0 before the first. */
  lastFiledAt(paper: string): number;
  /** Makes the entry's version the newest of its fact. Pieces filed from then on cite it. */
  setFact(entry: RecordEntry): void;
  /** The number of the paper's next version of any fact. */
  nextFactSeq(paper: string): number;
  /** The number of the paper's next review. */
  nextReviewSeq(paper: string): number;
  /**
   * Makes the generation the newest of its piece and advances the sequence number. It has no review yet, and cites the
   * newest versions of its facts.
   */
  setGeneration(entry: GenerationEntry): void;
  pieceState(piece: string): PieceState | null;
  setPieceState(piece: string, state: PieceState): void;
  /** The number of the paper's next reading of a source. */
  nextEvidenceSeq(paper: string): number;
  /** Makes a reading the newest of its fact. */
  setEvidence(entry: RecordEntry): void;
  /** What is known about a version of a fact; null before it was read. */
  evidenceBefore(paper: string, subject: string, version: number): KnownEvidence | null;
  /** The pieces that wait for evidence of a version of a fact. */
  waitingFor(paper: string, subject: string, version: number): string[];
  /** Facts to be revised, with this name or cited by this piece, that were not reported yet. Marks them as reported. */
  takeFindings(paper: string, of: { fact: string } | { piece: string }): FactToRevise[];
  /** Whether a scheduled piece stays off the air until its sources are read. */
  awaitsEvidence(piece: string): boolean;
  setAwaitsEvidence(piece: string, awaits: boolean): void;
  /** Queues sources for reading: of a piece's newest revision, of a fact's newest version, or all of a paper. */
  queuePieceSources(piece: string, at: number): void;
  queueFactSource(paper: string, claim_key: string, at: number): void;
  queuePaperSources(paper: string, at: number): void;
  /** Whether a piece stays off the air until its newest revision is approved. */
  awaitsReview(piece: string): boolean;
  /** Stores the approval of a piece's newest revision, which then no longer waits for one. */
  setReviewed(piece: string, reviewed: Reviewed): void;
  /** Stores what a desk asks to be changed in the newest revision. It is not part of the ledger. */
  setChangeRequest(piece: string, request: ChangeRequest): void;
  /** The pieces of a paper, removed or not, that went on air, were changed, reviewed or withdrawn after a time. */
  datedAfter(paper: string, time: number): string[];
  /** Lowers the review times of a paper's pieces to `time`, where they are later. */
  capReviewed(paper: string, time: number): void;
  /** Lowers the times of a paper's facts to `time`, where they are later. */
  capFacts(paper: string, time: number): void;
  /** Lowers the times of a paper's readings of sources to `time`, where they are later. */
  capEvidence(paper: string, time: number): void;
  /** Lowers the time of a paper's last change to `time`, if it is later. */
  capChangedAt(paper: string, time: number): void;
  /** Scheduled pieces that are due at or before `until` and wait for no review and no evidence, earliest first. */
  scheduled(until: number): { paper: string; piece: string; at: number }[];
  /** Whether the whole paper is stale and no press has started on it. */
  isFullPressPending(paper: string): boolean;
  /** Marks the outputs that read these dependencies as stale. */
  markStale(paper: string, dependencies: Iterable<string>): void;
  /** Queues an event for subscribers, as part of the transaction. */
  emit(event: DeskEvent): void;
  /** Appends an entry to a service's transparency log, as part of the transaction, unless the log already has it. */
  logLeaf(log: LogService, entry: string): void;
}
