import type { Archive } from '../desk/archive.ts';
import { NEWS_AGE } from '../press/outputs/sitemap.ts';

/**
 * The moment that the news sitemap on disk shows, to print it anew as of then.
 * It alone ages: a server presses it every ten minutes, and where no server runs
 * it stays as the last press left it. So it may name pieces that have
 * become too old since, but it must be the truth of some moment between
 * the newest piece and now; and what is new today must be in it.
 */
export function newsMoment(archive: Archive, xml: string, now: number): number {
  const named = xml.split('<url>').length - 1;
  const newest = archive.latest({ limit: 1 })[0]?.published_at;
  if (named === 0 || newest === undefined) return now;
  const oldest = archive.latest({ limit: named }).at(-1)?.published_at ?? now;
  return Math.max(newest, Math.min(now, oldest + NEWS_AGE));
}
