import { unixSeconds } from '../../proof/time.ts';

/** The minimum interval between two requests of a keyless caller, in ms (protocol 9.3). */
export const KEYLESS_INTERVAL = 15_000;

/**
 * `throttled`: the caller was admitted less than 15 seconds ago. `closed`: all callers together have used up today's
 * keyless requests. `until` (ms) is when the next one may come.
 */
export type KeylessPass = { pass: 'open' | 'throttled' | 'closed'; until: number };

export interface KeylessTable {
  /** The decision about a caller at a time in ms, under a daily ceiling, without counting. */
  peek(caller: string, at: number, ceiling: number): KeylessPass;
  /**
   * Decides and counts: only admitted requests count towards the interval and the ceiling. One transaction; the clock
   * is read within it.
   */
  admit(caller: string, now: () => number, ceiling: number): KeylessPass;
}

/** The headers of every keyless response (protocol 9.3); the reset is when the next request may come. */
export function keylessHeaders({ until }: KeylessPass): Record<string, string> {
  return {
    'X-RateLimit-Limit': '1',
    // Either this request used the only one, or there was none left.
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(unixSeconds(until)),
  };
}
