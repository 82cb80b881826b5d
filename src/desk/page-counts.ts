import { DAY, dayOf } from '../proof/time.ts';
import type { StateName } from './archive.ts';

/** What kinds of pages are counted apart. */
export const PAGE_KINDS = ['front', 'piece', 'section', 'tag', 'day', 'persona', 'cast', 'page'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** A page that was read: its kind, and a piece’s id or the name in its address; '' for the front. */
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
  /** Adds reads. A day has rows for `PAGES_MAX` pages of a paper at most: reads of others count for their kind alone. */
  add(reads: readonly PageReads[]): void;
  /** Reads of each day from one on, oldest first; days without any are left out. */
  days(paper: string, from: string): { day: string; reads: number }[];
  kinds(paper: string, from: string): { kind: PageKind; reads: number }[];
  /** The pages that were read most; a piece by its present slug and headline, null once that is withheld. */
  pages(
    paper: string,
    from: string,
    limit: number,
  ): (CountedPage & { reads: number; slug: string | null; title: string | null; state: StateName | null })[];
  /** Deletes the days before one. */
  forget(before: string): void;
}

/** For how many pages of a paper a day has a row of its own. */
export const PAGES_MAX = 2_000;

/** How long sums are kept, in ms. */
export const COUNTS_KEPT = 730 * DAY;

/** First segments of addresses, and the kind of the pages below them. */
const KINDS: Record<string, PageKind> = {
  stories: 'piece',
  sections: 'section',
  tags: 'tag',
  days: 'day',
  masthead: 'persona',
  cast: 'cast',
};

/**
 * The page of a file of a paper’s tree, such as `/stories/year-2038/index.html`; null for what is no page. `pieceOf` finds
 * a piece’s id by its slug.
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

/** How many pages a list of counts names. */
const LISTED_MAX = 100;

/** The sums of the last days, today included. */
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
