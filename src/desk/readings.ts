import type { ParsedProse } from '../ledger/prose.ts';
import { parseProse } from '../ledger/prose.ts';

/** How many proses are kept as they were read: those of requests that are under way. */
const CACHED_MAX = 16;

/** A prose as another thread has read it, and its words as the search holds them (`proseWords`). */
export interface CachedProse {
  parsed: ParsedProse;
  /** Null where it has too many brackets open to be read. */
  words: string | null;
}

const cache = new Map<string, CachedProse>();

/**
 * Keeps what another thread has read, so that the transaction which asks for it
 * next need not read it. What is not kept any more is read where it is asked for.
 */
export function cacheProse(prose: string, reading: CachedProse): void {
  cache.delete(prose);
  cache.set(prose, reading);
  const oldest = cache.keys().next().value;
  if (cache.size > CACHED_MAX && oldest !== undefined) cache.delete(oldest);
}

export function isCached(prose: string): boolean {
  return cache.has(prose);
}

/** The reading of a prose. */
export function parsedProse(prose: string): ParsedProse {
  return cache.get(prose)?.parsed ?? parseProse(prose);
}

/** The words of a prose as the search holds them, where they are kept. */
export function cachedWords(prose: string): string | null {
  return cache.get(prose)?.words ?? null;
}
