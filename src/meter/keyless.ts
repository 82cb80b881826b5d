import { unixSeconds } from '../time.ts';

/** How long a keyless caller waits from one request to the next, in ms (spec, "Limits"). */
export const KEYLESS_INTERVAL = 15_000;

/**
 * What the keyless lane makes of a request. `open`: it is let in. `throttled`:
 * its caller was let in less than 15 seconds ago; `until` is when it may come
 * again. `closed`: all of today's keyless requests are spent, for everybody.
 */
export type KeylessPass = { pass: 'open' | 'throttled' | 'closed'; until: number };

export interface KeylessTable {
  /** What a caller would be told at a time in ms, under the ceiling of a day; nothing is counted. */
  peek(caller: string, at: number, ceiling: number): KeylessPass;
  /**
   * Lets a caller in or not. Only requests that are let in count, for the 15
   * seconds and for the ceiling, whatever they are answered. One transaction: the
   * same for every process on the database, which is why the clock is read in it.
   */
  admit(caller: string, now: () => number, ceiling: number): KeylessPass;
}

/** The headers of every keyless answer (spec, "Rate-limit headers"): the next request is free at the reset. */
export function keylessHeaders({ until }: KeylessPass): Record<string, string> {
  return {
    'X-RateLimit-Limit': '1',
    // Whoever has an answer has just used it up, or had none left.
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(unixSeconds(until)),
  };
}
