/** The longest texts that the filing door takes, in UTF-16 units. */
export const HEADLINE_MAX = 300;
export const DEK_MAX = 1_000;
export const PROSE_MAX = 400_000;
export const STATEMENT_MAX = 4_000;
export const SOURCE_MAX = 300;
export const INSTRUMENT_MAX = 2_000;
export const CREDIT_MAX = 2_000;
export const CORRECTION_MAX = 2_000;
export const FACTS_MAX = 1_000;
/** Each is shown with the name of its publisher. */
export const MARKERS_MAX = 5_000;
export const SLUG_MAX = 150;

/** The least number of distinct publishers a piece on air may rest on, whatever the paper says. */
export const SOURCE_FLOOR_MIN = 2;

export type Kind = 'news' | 'blog';
export const KINDS: readonly Kind[] = ['news', 'blog'];

/** One entry that a `[^N]` marker in the prose points at. */
export interface CitedFact {
  n: number;
  statement: string;
  /** The publisher. */
  source: string;
  /** The document: an address, or its name. */
  instrument: string;
  /** A pointer into a fact record, or null. */
  claim_key: string | null;
}

/** A piece's own art, a file of its paper. */
export interface Image {
  /** Path under the paper's folder, such as `media/art/metre.svg`. */
  src: string;
  alt: string;
  credit: string | null;
}

/** What a desk hands to the filing door. */
export interface Filing {
  slug: string;
  headline: string;
  dek: string;
  prose: string;
  cited_facts: CitedFact[];
  /** The section's name. */
  category: string;
  kind: Kind;
  /** The slug of the persona that signs it. */
  persona: string;
  /** BCP 47 tag. */
  language: string;
  image: Image | null;
  /** Whose work the piece rests on and under which licence. */
  credit: string | null;
  /** What was wrong in the revision before, when this one corrects it. */
  correction: string | null;
  /** When the revision was made, in ms, for a desk that brings its archive along; else null. */
  revised_at: number | null;
}

/** A filing as the ledger keeps it: one generation of one piece. */
export interface Piece extends Filing {
  id: string;
  revision: number;
  /** The persona's name and title on the day of filing. */
  byline: { name: string; title: string };
}
