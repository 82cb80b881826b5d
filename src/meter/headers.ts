import { monthOf, nextDayAt, nextMonthAt, unixSeconds } from '../time.ts';
import type { AccountUsage } from './account-usage.ts';
import { dayAllowance, monthAllowance, unitsOf } from './account-usage.ts';
import { creditsOf, REQUEST_COST } from './credits.ts';

/**
 * The meter headers of a keyed response (protocol 9.4). Headers of one plan are sent on that plan alone: the day's
 * credits on the daily plan, the month's allowance on the monthly one. Counts, the day and the burst are sent on both.
 *
 * Credits are today's: the allowance is the day's requests at the price of a request, `Used` all of today's units at
 * that price including bought ones, and `Remaining` the rest of the allowance. Bought credits do not expire at midnight
 * and are not part of the allowance: they are the balance, which both plans draw on. Resets are in Unix seconds.
 */
export function meterHeaders(usage: AccountUsage): Record<string, string> {
  const { at, terms, today, month, balance } = usage;
  const day = dayAllowance(usage);
  const midnight = unixSeconds(nextDayAt(at));
  const ofBoth = {
    'X-Service-Usage': unitsOf(month),
    'X-Service-Usage-Day': unitsOf(today),
    'X-Service-Usage-Period': monthOf(at),
    'X-Service-Daily-Allowance': day.allowance,
    'X-Service-Daily-Remaining': day.remaining,
    'X-Service-Daily-Reset': midnight,
    'X-Service-Burst': terms.burst,
    'X-Service-Credits-Balance': creditsOf(balance),
  };
  return texts({ ...ofBoth, ...(terms.plan === 'daily' ? creditHeaders(usage) : monthHeaders(usage)) });
}

function creditHeaders(usage: AccountUsage): Record<string, number> {
  const { allowance, remaining } = dayAllowance(usage);
  return {
    'X-Service-Credits-Allowance': creditsOf(allowance * REQUEST_COST),
    'X-Service-Credits-Used': creditsOf(unitsOf(usage.today) * REQUEST_COST),
    'X-Service-Credits-Remaining': creditsOf(remaining * REQUEST_COST),
    'X-Service-Credits-Reset': unixSeconds(nextDayAt(usage.at)),
  };
}

function monthHeaders(usage: AccountUsage): Record<string, number> {
  const { allowance, remaining } = monthAllowance(usage);
  return {
    'X-Service-Allowance': allowance,
    'X-Service-Remaining': remaining,
    'X-Service-Reset': unixSeconds(nextMonthAt(usage.at)),
  };
}

function texts(values: Record<string, string | number>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}
