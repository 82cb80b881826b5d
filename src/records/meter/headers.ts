import { MINUTE, monthOf, nextDayAt, nextMonthAt, unixSeconds } from '../../proof/time.ts';
import { type AccountUsage, dayAllowance, monthAllowance, unitsOf } from './account-usage.ts';
import { creditsOf, REQUEST_COST } from './credits.ts';

/**
 * The meter headers of a keyed response (protocol 9.4): the day's credits on the daily plan, or the month's allowance
 * on the monthly plan. Credits are the day's requests at the price of a request. Bought credits do not expire and are
 * not part of the allowance: they are the balance, from which both plans draw. Resets are in Unix seconds.
 */
export function meterHeaders(usage: AccountUsage): Record<string, string> {
  const { at, terms, today, month, balance } = usage;
  const { allowance, remaining } = dayAllowance(usage);
  const inMonth = monthAllowance(usage);
  const midnight = unixSeconds(nextDayAt(at));
  const headers = {
    'X-Service-Usage': unitsOf(month),
    'X-Service-Usage-Day': unitsOf(today),
    'X-Service-Usage-Period': monthOf(at),
    'X-Service-Daily-Allowance': allowance,
    'X-Service-Daily-Remaining': remaining,
    'X-Service-Daily-Reset': midnight,
    'X-Service-Burst': terms.burst,
    'X-Service-Credits-Balance': creditsOf(balance),
    ...(terms.plan === 'daily'
      ? {
          'X-Service-Credits-Allowance': creditsOf(allowance * REQUEST_COST),
          'X-Service-Credits-Used': creditsOf(unitsOf(today) * REQUEST_COST),
          'X-Service-Credits-Remaining': creditsOf(remaining * REQUEST_COST),
          'X-Service-Credits-Reset': midnight,
        }
      : {
          'X-Service-Allowance': inMonth.allowance,
          'X-Service-Remaining': inMonth.remaining,
          'X-Service-Reset': unixSeconds(nextMonthAt(at)),
        }),
  };
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/**
 * A key's requests per clock minute. Includes requests that fail or exceed the allowance, but not those rejected by
 * this rate limit.
 */
export interface Rate {
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
 * The headers of draft-ietf-httpapi-ratelimit-headers-10. They do not include the daily allowance: accounts with
 * credits may go past it, and a client that honours these headers would stop.
 */
export function rateHeaders({ limit, used, at }: Rate): Record<string, string> {
  return {
    'RateLimit-Policy': `"minute";q=${limit};w=60`,
    RateLimit: `"minute";r=${Math.max(0, limit - used)};t=${secondsToNextMinute(at)}`,
  };
}
