import type { LedgerEntry } from './ledger-entry.ts';

/**
 * Tells the entries of a replayed ledger, in their order, what the clock said
 * when each was made. Where the clock had been set back, an entry took its time
 * from an earlier one: such a time says nothing of the clock, and the last one that does
 * stands. Two entries of one millisecond come to the same.
 */
export function replayClock(): (entry: LedgerEntry) => number {
  const seen = new Set<number>();
  let clock = Number.NEGATIVE_INFINITY;
  return ({ at }) => {
    if (!seen.has(at)) clock = at;
    seen.add(at);
    return Math.min(clock, at);
  };
}
