import type { Reading } from '../ledger/prose.ts';
import { readProse } from '../ledger/prose.ts';

/** How many proses are kept as they were read: those of requests that are under way. */
const KEPT_MAX = 16;

/** A prose as another thread has read it, and its words as the search holds them (`proseWords`). */
export interface KeptReading {
  reading: Reading;
  /** Null where it has too many brackets open to be read. */
  words: string | null;
}

const kept = new Map<string, KeptReading>();

/**
 * Keeps what another thread has read, so that the transaction which asks for it
 * next need not read it. What is not kept any more is read where it is asked for.
 */
export function keepReading(prose: string, reading: KeptReading): void {
  kept.delete(prose);
  kept.set(prose, reading);
  const oldest = kept.keys().next().value;
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}

export function isKept(prose: string): boolean {
  return kept.has(prose);
}

/** The reading of a prose. */
export function readingOf(prose: string): Reading {
  return kept.get(prose)?.reading ?? readProse(prose);
}

/** The words of a prose as the search holds them, where they are kept. */
export function keptWords(prose: string): string | null {
  return kept.get(prose)?.words ?? null;
}
