import { PROSE_MAX } from '../ledger/piece.ts';
import type { ParsedProse } from '../ledger/prose.ts';
import { parseProse } from '../ledger/prose.ts';

/**
 * How much prose is cached, in UTF-16 units: 16 of the longest texts, which are those of the requests in progress, or a
 * transaction of an import.
 */
const CACHED_MAX = 16 * PROSE_MAX;
/** What each text counts beside its length, for the objects that hold it. */
const EACH = 1_000;

/** Prose that another thread has parsed. */
export interface CachedProse {
  parsed: ParsedProse;
  /** The words for the search index (`proseWords`); null when too many brackets were open to parse it. */
  words: string | null;
}

const cache = new Map<string, CachedProse>();
let size = 0;

/** Caches the result of another thread for the next transaction, which needs it. */
export function cacheProse(prose: string, entry: CachedProse): void {
  drop(prose);
  cache.set(prose, entry);
  size += prose.length + EACH;
  for (const oldest of cache.keys()) {
    if (size <= CACHED_MAX) return;
    drop(oldest);
  }
}

function drop(prose: string): void {
  if (cache.delete(prose)) size -= prose.length + EACH;
}

export function isCached(prose: string): boolean {
  return cache.has(prose);
}

/** Parsed prose, from the cache if possible. */
export function parsedProse(prose: string): ParsedProse {
  return cache.get(prose)?.parsed ?? parseProse(prose);
}

/** The words of cached prose for the search index; null when they are not cached. */
export function cachedWords(prose: string): string | null {
  return cache.get(prose)?.words ?? null;
}
