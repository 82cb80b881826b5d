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
  /** Pieces on air that cite it. */
  cited: number;
}

/** What the pages of the fact record show, by route. */
export interface FactContent {
  '/console/facts': {
    rows: FactListLine[];
    asked: Record<'q' | 'status' | 'source', string>;
    older: string | null;
  };
  '/console/fact': {
    fact: FactListLine & { instrument: string; quote: string | null };
    /** The newest first. `at` is when it was signed. */
    versions: {
      version: number;
      status: FactStatus;
      statement: string;
      source: string;
      note: string | null;
      at: string;
    }[];
    /** The newest pieces that cite it, in any state, with the version that each was filed with. */
    pieces: { id: string; headline: string; state: StateName; version: number }[];
    /** Whether there are more pieces. */
    has_more: boolean;
    /** Of the form that corrects it. */
    fields: FormField[];
    /** What was found in its source; null while nobody read it. */
    evidence: EvidenceState | null;
    /** Its public page; null while no piece on air cites it. */
    url: string | null;
  };
}

/** A fact that somebody should look at, with why: by its correction, or by what was found in its source. */
export interface ReviseLine {
  /** Its page below the console, or that of the only piece that has it. */
  path: string;
  state: string;
  statement: string;
  note: string;
  /** How many pieces on air say otherwise; null where its source was read. */
  pieces: number | null;
}
