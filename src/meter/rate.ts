import { MINUTE } from '../time.ts';
/**
 * The rate of a key, per clock minute. Every request counts, even one that fails or exceeds the allowance, except those
 * rejected for the rate itself.
 */
export interface Rate {
  /** Requests per minute. */
  limit: number;
  /** Requests of this minute, including this one. */
  used: number;
  /** In ms. */
  at: number;
}

/** The number of a time's minute since the Unix epoch. */
export function minuteOf(at: number): number {
  return Math.floor(at / MINUTE);
}

/** Whole seconds until the next minute, rounded up: 1 to 60. */
export function secondsToNextMinute(at: number): number {
  return Math.ceil(((minuteOf(at) + 1) * MINUTE - at) / 1_000);
}

/**
 * The rate in the headers of draft-ietf-httpapi-ratelimit-headers-10: the policy with its quota and window, and what
 * remains until the reset. They do not include the daily allowance: accounts with credits may go past it, and a client
 * that honours these headers would stop.
 */
export function rateHeaders({ limit, used, at }: Rate): Record<string, string> {
  return {
    'RateLimit-Policy': `"minute";q=${limit};w=60`,
    RateLimit: `"minute";r=${Math.max(0, limit - used)};t=${secondsToNextMinute(at)}`,
  };
}
