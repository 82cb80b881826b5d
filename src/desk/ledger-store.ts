import type { Archive, StateName } from './archive.ts';
import type { DeskEvent } from './event.ts';
import type { GenerationEntry, LedgerEntry } from './ledger-entry.ts';
import type { PaperBody } from './paper.ts';

/** A piece's standing, as the desk changes it. Times in ms. */
export interface PieceState {
  state: StateName;
  published_at: number | null;
  updated_at: number | null;
  scheduled_at: number | null;
  withdrawn_at: number | null;
  reason: string | null;
}

/** What the desk asks of the store when it writes. */
export interface LedgerStore {
  /** Runs `work` as one transaction that nothing else of any process comes between. */
  transact<T>(work: () => T): T;
  /** Appends to the ledger and to nothing else. */
  append(entry: LedgerEntry): void;
  archive(paper: string): Archive;
  hasPaper(paper: string): boolean;
  paperSlugs(): string[];
  setPaper(paper: string, body: PaperBody, at: number): void;
  /** Counts a change that readers can see. */
  bumpEdition(paper: string, at: number): void;
  /** The next receipt's number. */
  nextSeq(paper: string): number;
  /** When the paper's newest receipt says that it was filed, in ms; 0 before the first. */
  lastFiledAt(paper: string): number;
  /** Makes the generation the one that its piece shows, and takes its number. */
  setGeneration(entry: GenerationEntry): void;
  pieceState(piece: string): PieceState | null;
  setPieceState(piece: string, standing: PieceState): void;
  /** Scheduled pieces whose time has come, in the order of their times. */
  scheduled(until: number): { paper: string; piece: string; at: number }[];
  /** Whether everything of the paper is marked to be pressed, and no press has begun on it. */
  isFullPressPending(paper: string): boolean;
  /** Notes that the files which read these tags must be pressed. */
  markStale(paper: string, tags: Iterable<string>): void;
  /** Notes what those who asked for it are to be told: kept when the transaction is, and only then. */
  emit(event: DeskEvent): void;
}
