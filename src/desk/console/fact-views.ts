import type { FactStatus } from '../../proof/fact-note.ts';
import type { StateName } from '../archive.ts';
import type { EvidenceState } from '../evidence.ts';
import type { FormField } from './fields.ts';

/** A fact in a list: its newest version. */
export interface FactListLine {
  claim_key: string;
  version: number;
  statement: string;
  source: string;
  status: FactStatus;
  /** How many pieces on air cite it. */
  cited: number;
}

/** The content of the pages of the fact record, by route. */
export interface FactContent {
  '/console/facts': {
    rows: FactListLine[];
    asked: Record<'q' | 'status' | 'source', string>;
    older: string | null;
  };
  '/console/fact': {
    fact: FactListLine & { instrument: string; quote: string | null };
    /** Newest first. `at` is when it was signed. */
    versions: {
      version: number;
      status: FactStatus;
      statement: string;
      source: string;
      note: string | null;
      at: string;
    }[];
    /** The newest pieces that cite it, in any state, each with the version that it was filed with. */
    pieces: { id: string; headline: string; state: StateName; version: number }[];
    /** Whether there are more pieces. */
    has_more: boolean;
    /** Fields of the correction form. */
    fields: FormField[];
    /** The result of reading its source; null before it is read. */
    evidence: EvidenceState | null;
    /** Its public page; null if no piece on air cites it. */
    url: string | null;
  };
}

/** A fact that needs attention, with the reason: it was corrected, or its source does not support it. */
export interface ReviseLine {
  /** The path of its page below the console, or of the page of the only piece that has it. */
  path: string;
  state: string;
  statement: string;
  note: string;
  /** How many pieces on air cite another version; null if its source is the reason. */
  pieces: number | null;
}
