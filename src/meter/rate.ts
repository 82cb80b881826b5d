import { MINUTE } from '../time.ts';
/**
 * The rate of a key: so many requests in each minute of the clock. Every
 * request counts, also one that is refused for its allowance or fails; one that
 * is refused for the rate does not.
 */
export interface Rate {
  /** Requests a minute. */
  limit: number;
  /** Of this minute, this one among them. */
  used: number;
  /** Ms. */
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
 * The rate as draft-ietf-httpapi-ratelimit-headers-10 has it: the policy with
 * its quota and window, and what remains until when. Only the rate is told so,
 * not the day: whoever has credits goes on past its allowance, and a program
 * that heeds these would stop.
 */
export function rateHeaders({ limit, used, at }: Rate): Record<string, string> {
  return {
    'RateLimit-Policy': `"minute";q=${limit};w=60`,
    RateLimit: `"minute";r=${Math.max(0, limit - used)};t=${secondsToNextMinute(at)}`,
  };
}
