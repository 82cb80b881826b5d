import { daysInMonth, nextDayAt, nextMonthAt } from '../time.ts';
import { REQUEST_COST } from './credits.ts';
import type { Terms } from './plan.ts';

/**
 * What became of requests. Each request that was let past the rate of its key
 * is in exactly one column.
 */
export interface Counts {
  /** Answered, out of what the plan includes. */
  included: number;
  /** Answered, and drawn from bought credits. */
  drawn: number;
  /** Refused with 402. */
  refused: number;
  /** Answered with a failure: its unit went back where it came from. */
  failed: number;
}

/** Where an account stands at a time. */
export interface AccountUsage {
  /** Ms. */
  at: number;
  terms: Terms;
  /** Of this UTC day, and of this UTC month with this day in it. */
  today: Counts;
  month: Counts;
  /** Requests of this day that other addresses of the same mailbox took out of the one free allowance; of the daily plan. */
  elsewhere: number;
  /** Micro-credits that were bought and are left. */
  balance: number;
  /** Whether the account ever had credits. */
  bought: boolean;
}

/** An allowance and what is left of it. */
export interface Allowance {
  allowance: number;
  remaining: number;
}

/** Requests that were answered and counted: units. */
export function unitsOf({ included, drawn }: Counts): number {
  return included + drawn;
}

/** What the legacy monthly plan includes: the shares of the month's days. */
export function monthAllowance({ at, terms, month }: AccountUsage): Allowance {
  const allowance = terms.daily * daysInMonth(at);
  return { allowance, remaining: Math.max(0, allowance - month.included) };
}

/**
 * What is included for today: as many days' shares as the burst multiple in
 * force, less what other addresses of the mailbox had of it. On the monthly plan that is never more than what the month has left.
 */
export function dayAllowance(usage: AccountUsage): Allowance {
  const { terms, today, elsewhere } = usage;
  const share = terms.daily * terms.burst;
  const allowance =
    terms.plan === 'monthly'
      ? Math.min(share, today.included + monthAllowance(usage).remaining)
      : Math.max(0, share - elsewhere);
  return { allowance, remaining: Math.max(0, allowance - today.included) };
}

/** What a request is taken out of. */
export type Source = 'included' | 'credits';

/** What may run out: what the plan includes for the day or for the month, and bought credits. */
export const AXES = ['daily', 'monthly', 'credits'] as const;
export type Axis = (typeof AXES)[number];

/** What ran out when a request is refused. */
export interface Exhausted {
  /**
   * The one to mend. `credits`: the account lives on credits and too few are
   * left, so that a top-up is the cure. `daily` or `monthly`: it never had any,
   * so that its included requests are what ran out, and waiting is a cure as well.
   */
  axis: Axis;
  /** All of them: the included requests, whichever of them ran out, and the credits. */
  axes: Axis[];
}

/** What the next request is taken out of, or which axis is exhausted (spec, "States and transitions"). */
export function nextSource(usage: AccountUsage): { from: Source } | { exhausted: Exhausted } {
  if (dayAllowance(usage).remaining > 0) return { from: 'included' };
  if (usage.balance >= REQUEST_COST) return { from: 'credits' };
  const included = isMonthSpent(usage) ? 'monthly' : 'daily';
  return { exhausted: { axis: usage.bought ? 'credits' : included, axes: [included, 'credits'] } };
}

function isMonthSpent(usage: AccountUsage): boolean {
  return usage.terms.plan === 'monthly' && monthAllowance(usage).remaining === 0;
}

/** When there are included requests again, ms: at the month's end where the month has none left. */
export function includedAgainAt(usage: AccountUsage): number {
  return isMonthSpent(usage) ? nextMonthAt(usage.at) : nextDayAt(usage.at);
}

/** The usage once a request more was counted. */
export function counted(usage: AccountUsage, as: keyof Counts): AccountUsage {
  const plus = (counts: Counts): Counts => ({ ...counts, [as]: counts[as] + 1 });
  return {
    ...usage,
    today: plus(usage.today),
    month: plus(usage.month),
    balance: usage.balance - (as === 'drawn' ? REQUEST_COST : 0),
  };
}
