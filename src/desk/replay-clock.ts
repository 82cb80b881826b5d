import type { LedgerEntry } from './ledger-entry.ts';

/**
 * Returns a function that gives the clock's time at which each entry of a replayed ledger was appended. Call it with
 * the entries in order. While the clock was set back, entries repeat the time of an earlier one: the clock then keeps
 * its last distinct time. Two entries of the same millisecond give the same result.
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
