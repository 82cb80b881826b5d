import type { FactStatus } from '../../proof/fact-note.ts';
import type { StateName } from '../archive.ts';
import type { OutdatedFact } from '../fact.ts';
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
    /** Its public page; null while no piece on air cites it. */
    url: string | null;
  };
}

/** A fact of which pieces on air cite a version that was wrong. */
export type RevisedFactLine = Pick<OutdatedFact, 'claim_key' | 'status' | 'statement' | 'pieces'> & { note: string };
