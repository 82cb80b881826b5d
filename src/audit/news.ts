import type { Archive } from '../desk/archive.ts';
import { NEWS_AGE } from '../press/outputs/sitemap.ts';

/**
 * The moment that the news sitemap on disk reflects. Only this file's content expires: a server presses it every ten
 * minutes, and without a server it stays as the last press left it. It may therefore list pieces that are too old by
 * now, but it must be right for some moment between the newest piece and now. A piece dated in the future, signed by a
 * clock that ran ahead, is ignored: the press knew no later moment than now.
 */
export function newsMoment(archive: Archive, xml: string, now: number): number {
  const named = xml.split('<url>').length - 1;
  const newest = archive.latest({ limit: 1 })[0]?.published_at;
  if (named === 0 || newest === undefined) return now;
  const oldest = archive.latest({ limit: named }).at(-1)?.published_at ?? now;
  return Math.min(now, Math.max(newest, oldest + NEWS_AGE));
}
