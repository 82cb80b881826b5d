import { DAY, dayOf } from '../proof/time.ts';
import type { StateName } from './archive.ts';

/** The kinds of pages that are counted separately. */
export const PAGE_KINDS = ['front', 'piece', 'section', 'tag', 'day', 'persona', 'cast', 'page'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** A counted page: its kind, and a piece’s id or the name in its address; '' for the front. */
export interface CountedPage {
  kind: PageKind;
  page: string;
}

/** Reads of one page on one UTC day. */
export interface PageReads extends CountedPage {
  paper: string;
  day: string;
  reads: number;
}

export interface PageCountTable {
  /** Adds reads. A day has rows for at most `PAGES_MAX` pages of a paper; further pages count only for their kind. */
  add(reads: readonly PageReads[]): void;
  /** Reads per day from a day on, oldest first; omits days without reads. */
  days(paper: string, from: string): { day: string; reads: number }[];
  kinds(paper: string, from: string): { kind: PageKind; reads: number }[];
  /** The most-read pages. A piece has its present slug and headline, both null if they are withheld. */
  pages(
    paper: string,
    from: string,
    limit: number,
  ): (CountedPage & { reads: number; slug: string | null; title: string | null; state: StateName | null })[];
  /** Deletes the days before `before`. */
  forget(before: string): void;
}

/** For how many pages of a paper a day has separate rows. */
export const PAGES_MAX = 2_000;

/** How long counts are kept, in ms. */
export const COUNTS_KEPT = 730 * DAY;

/** The kinds of pages by the first segment of their address. */
const KINDS: Record<string, PageKind> = {
  stories: 'piece',
  sections: 'section',
  tags: 'tag',
  days: 'day',
  masthead: 'persona',
  cast: 'cast',
};

/**
 * The page of a file in a paper’s tree, such as `/stories/year-2038/index.html`; null if the file is not a page.
 * `pieceOf` finds a piece’s id by its slug.
 */
export function countedPage(file: string, pieceOf: (slug: string) => string | null): CountedPage | null {
  if (file === '/index.html') return { kind: 'front', page: '' };
  const [, first = '', second] = /^\/([^/]+)\/(?:([^/]+)\/)?(?:[^/]+\/)?index\.html$/.exec(file) ?? [];
  if (first === '' || first === 'embed') return null;
  const kind = KINDS[first];
  if (kind === undefined || second === undefined) return { kind: 'page', page: first };
  const page = kind === 'piece' ? pieceOf(second) : second;
  return page === null ? null : { kind, page };
}

/** Maximum number of pages in a list of counts. */
const LISTED_MAX = 100;

/** The counts of the last `days` days, including today. */
export function readCounts(counts: PageCountTable, paper: string, { days, now }: { days: number; now: number }) {
  const from = dayOf(now - (days - 1) * DAY);
  const known = new Map(counts.days(paper, from).map(({ day, reads }) => [day, reads]));
  const all = Array.from({ length: days }, (_, n) => dayOf(now - (days - 1 - n) * DAY));
  return {
    days: all.map((day) => ({ day, reads: known.get(day) ?? 0 })),
    kinds: counts.kinds(paper, from),
    pages: counts.pages(paper, from, LISTED_MAX).map(({ page, ...row }) => ({ ...row, id: page })),
  };
}
