import { type FactNote, type FactStatus, type FactVersion, factIn } from '../proof/fact-note.ts';
import type { RecordEntry } from './ledger-entry.ts';

/** The fact record (protocol 4.8): facts that pieces cite by a claim key, in signed versions. */

/** The body of a ledger line that adds a version. The line's name is the claim key. */
export interface FactBody extends Omit<FactVersion, 'claim_key'> {
  /** The signed note (`src/proof/fact-note.ts`). */
  receipt: string;
}

/** A version of a fact, with its signed note. */
export interface SignedFact extends FactVersion {
  receipt: string;
}

/** The version of a fact in a ledger entry. */
export function factOf({ name, body }: Pick<RecordEntry, 'name' | 'body'>): SignedFact {
  return { claim_key: name, ...(body as FactBody) };
}

/** The content of a version's note. Throws for an invalid note. */
export function saidOf({ receipt }: Pick<SignedFact, 'receipt'>): FactNote {
  const said = factIn(receipt);
  if (said === null) throw new Error('a fact is not a fact/v1 note');
  return said;
}

/** A fact as lists show it: its newest version. Times in ms. */
export interface FactRow extends FactVersion {
  /** Its position in lists, which are newest first. */
  id: number;
  signed_at: number;
  /** How many pieces on air cite it, whatever the version. */
  cited: number;
  /** When its newest correction or retraction was signed, and why; null while it is unchanged. */
  changed_at: number | null;
  changed_note: string | null;
}

/** What became of a fact since a piece cited it. */
export type FactChange = 'corrected' | 'retracted';

/** A fact that the newest revision of a piece cites. */
export interface Citation {
  claim_key: string;
  /** The version that was the newest when the piece was filed. */
  version: number;
  /** The newest version. */
  newest: number;
  /** What became of the fact since; null while the statement that the piece repeats still holds. */
  since: FactChange | null;
}

/** What became of a fact after a version. `corrected` is the number of its newest correcting version, or 0. */
export function changeSince(
  version: number,
  fact: { version: number; status: FactStatus; corrected: number },
): FactChange | null {
  if (fact.version <= version) return null;
  if (fact.status === 'retracted') return 'retracted';
  return fact.corrected > version ? 'corrected' : null;
}

/**
 * Selects the pieces that cite a fact: those on air; those scheduled; all whose headline is not withheld; or, of the
 * latter, those that cite an older version.
 */
export type Citing = 'on_air' | 'scheduled' | 'desk' | 'outdated';

/** A piece that cites a fact, in any state. */
export interface CitingRow {
  id: string;
  slug: string;
  headline: string;
  revision: number;
  /** The version that it cites. */
  version: number;
  /** As of `Story`. */
  state: 'draft' | 'scheduled' | 'on_air' | 'withdrawn';
}

/** A fact of which `pieces` pieces on air cite an outdated version. */
export interface OutdatedFact extends Pick<FactRow, 'claim_key' | 'status' | 'statement' | 'changed_note'> {
  changed_at: number;
  pieces: number;
}

/** A publisher, with the number of its facts that pieces on air cite, and of their citations. */
export interface SourceRow {
  source: string;
  facts: number;
  citations: number;
}

/** Selects facts, newest first. */
export interface FactQuery {
  limit: number;
  /** Continues after this row of the list. */
  after?: number | undefined;
  /** Only facts that a piece on air cites. */
  isCited: boolean;
  status?: FactStatus | undefined;
  /** The publisher's name; case does not matter. */
  source?: string | undefined;
  /** Words from `searchTerms`: each must begin a word of the statement, the publisher, the document or the key. */
  terms?: readonly string[] | undefined;
}

/** The address of a fact's page. */
export function factUrl(root: string, claim_key: string): string {
  return `${root}/facts/${claim_key}/`;
}
