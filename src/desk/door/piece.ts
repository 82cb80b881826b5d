import type { Hashed, Kind } from '../../proof/basis.ts';

/** Maximum lengths of texts, in UTF-16 units, and maximum numbers that the filing door accepts. */
export const MAX = {
  slug: 150,
  headline: 300,
  dek: 1_000,
  prose: 400_000,
  /** Markers. Each is shown with its publisher's name. */
  markers: 5_000,
  /** Cited facts. */
  facts: 1_000,
  statement: 4_000,
  source: 300,
  instrument: 2_000,
  quote: 300,
  credit: 2_000,
  writer: 500,
  /** People named as the authors of a piece. */
  authors: 20,
  author: 300,
  /** Earlier addresses. */
  aliases: 20,
  alias: 300,
  /** Tags. */
  tags: 10,
  tag: 40,
  correction: 2_000,
};

/**
 * Limits that bound the work of parsing a prose: markup characters, the angle brackets among them, lines, and nested
 * quotes and lists. Of 6,363 published articles, none reaches a tenth of the first two limits or a seventh of the
 * third, or nests more than four levels.
 */
export const MARKUP_MAX = 20_000;
export const ANGLES_MAX = 5_000;
export const LINES_MAX = 10_000;
export const NESTING_MAX = 16;

/** Minimum number of distinct publishers for a piece on air, whatever the paper's setting. */
export const SOURCE_FLOOR_MIN = 2;

export const KINDS: readonly Kind[] = ['news', 'blog'];

/** A piece's own art: a media file of its paper. */
export interface Image {
  /** Path under the paper's folder, such as `media/art/metre.svg`. */
  src: string;
  alt: string;
  credit: string | null;
}

/** What a desk submits to the filing door. */
export interface Filing extends Omit<Hashed, 'id' | 'revision' | 'byline'> {
  slug: string;
  /** The slug of the persona that signs it. */
  persona: string;
  /** BCP 47 tag. */
  language: string;
  image: Image | null;
  /** Topics of the piece, for readers who browse: names, no two of which have the same slug. */
  tags: string[];
  /** Earlier addresses that redirect to the piece: paths below the paper's root, each with its leading slash. */
  aliases: string[];
  /** For a correction: what was wrong in the previous revision. */
  correction: string | null;
  /** When the revision was made, in ms, if a desk imports its archive; else null. */
  revised_at: number | null;
}

/** A filing as the ledger stores it: one generation of one piece. */
export interface Piece extends Filing, Hashed {}
