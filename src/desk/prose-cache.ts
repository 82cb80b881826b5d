import type { ParsedProse } from '../ledger/prose.ts';
import { parseProse } from '../ledger/prose.ts';

/** How many parsed texts are cached: those of requests under way. */
const CACHED_MAX = 16;

/** Prose as another thread has parsed it. */
export interface CachedProse {
  parsed: ParsedProse;
  /** The words that the search index holds (`proseWords`); null when too many brackets were open to parse it. */
  words: string | null;
}

const cache = new Map<string, CachedProse>();

/** Caches what another thread has parsed, for the transaction that needs it next. */
export function cacheProse(prose: string, entry: CachedProse): void {
  cache.delete(prose);
  cache.set(prose, entry);
  const oldest = cache.keys().next().value;
  if (cache.size > CACHED_MAX && oldest !== undefined) cache.delete(oldest);
}

export function isCached(prose: string): boolean {
  return cache.has(prose);
}

/** Parsed prose, from the cache where it is there. */
export function parsedProse(prose: string): ParsedProse {
  return cache.get(prose)?.parsed ?? parseProse(prose);
}

/** The words of cached prose that the search index holds; null when they are not cached. */
export function cachedWords(prose: string): string | null {
  return cache.get(prose)?.words ?? null;
}
