import type { ParsedProse } from '../ledger/prose.ts';
import { parseProse } from '../ledger/prose.ts';

/** How many parsed texts are cached: those of the requests in progress. */
const CACHED_MAX = 16;

/** What the search index holds of a text. */
export interface IndexText {
  /** Normalized words in their order, in which phrases are looked for. */
  words: string;
  /** The tokens by which the text is found. */
  tokens: string;
}

/** Prose that another thread has parsed. */
export interface CachedProse {
  parsed: ParsedProse;
  /** What the search index holds of it; null when too many brackets were open to parse it. */
  index: IndexText | null;
}

const cache = new Map<string, CachedProse>();

/** Caches the result of another thread for the next transaction, which needs it and at most `max` others. */
export function cacheProse(prose: string, entry: CachedProse, max = CACHED_MAX): void {
  cache.delete(prose);
  cache.set(prose, entry);
  const oldest = cache.keys().next().value;
  if (cache.size > max && oldest !== undefined) cache.delete(oldest);
}

export function isCached(prose: string): boolean {
  return cache.has(prose);
}

/** Parsed prose, from the cache if possible. */
export function parsedProse(prose: string): ParsedProse {
  return cache.get(prose)?.parsed ?? parseProse(prose);
}

/** What the search index holds of cached prose; null when it is not cached. */
export function cachedWords(prose: string): IndexText | null {
  return cache.get(prose)?.index ?? null;
}
