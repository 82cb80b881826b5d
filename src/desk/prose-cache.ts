import type { JudgedProse } from '../ledger/prose.ts';
import { parseProse } from '../ledger/prose.ts';

/** How many parsed texts are cached: those of the requests in progress. */
const CACHED_MAX = 16;

/** Prose that another thread has parsed. */
export interface CachedProse {
  parsed: JudgedProse;
  /** The words for the search index (`proseWords`); null when too many brackets were open to parse it. */
  words: string | null;
}

const cache = new Map<string, CachedProse>();

/** Caches the result of another thread for the next transaction, which needs it and at most `max` others. */
export function cacheProse(prose: string, entry: CachedProse, max = CACHED_MAX): void {
  cache.delete(prose);
  cache.set(prose, entry);
  const oldest = cache.keys().next().value;
  if (cache.size > max && oldest !== undefined) cache.delete(oldest);
}

/** Parsed prose, from the cache if possible. */
export function parsedProse(prose: string): JudgedProse {
  return cache.get(prose)?.parsed ?? parseProse(prose);
}

/** The words of cached prose for the search index; null when they are not cached. */
export function cachedWords(prose: string): string | null {
  return cache.get(prose)?.words ?? null;
}
