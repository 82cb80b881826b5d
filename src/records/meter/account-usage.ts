import { dayOf, daysInMonth, nextDayAt, nextMonthAt } from '../../proof/time.ts';
import { REQUEST_COST } from './credits.ts';

/** Requests by outcome. Each request within its key's rate limit is counted in exactly one column. */
export interface Counts {
  /** Paid by the plan's allowance. */
  included: number;
  /** Paid by bought credits. */
  drawn: number;
  /** Rejected with 402. */
  refused: number;
  /** Failed: the unit was refunded to its source. */
  failed: number;
}

export interface AccountUsage {
  /** In ms. */
  at: number;
  terms: Terms;
  today: Counts;
  month: Counts;
  /** On the monthly plan: requests paid for by bought plans, which do not count against the month. */
  covered: {
    /** Such requests on earlier days of the month. */
    before: number;
    today: boolean;
  };
  /** On the daily plan: today's requests of other addresses of the same mailbox. They share one free allowance. */
  elsewhere: number;
  /** Bought micro-credits left. */
  balance: number;
  bought: boolean;
}

export interface Allowance {
  allowance: number;
  remaining: number;
}

/** Units: requests that were answered and charged. */
export function unitsOf({ included, drawn }: Counts): number {
  return included + drawn;
}

/** The month's allowance on the legacy monthly plan: the daily share times the days of the month. */
export function monthAllowance({ at, terms, today, month, covered }: AccountUsage): Allowance {
  const allowance = terms.daily * daysInMonth(at);
  const used = month.included - covered.before - (covered.today ? today.included : 0);
  return { allowance, remaining: Math.max(0, allowance - used) };
}

/**
 * The daily share times the burst multiple, less what other addresses of the mailbox used. On the monthly plan, at most
 * what is left of the month.
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

export type Source = 'included' | 'credits';

/** What can be exhausted: the plan's daily or monthly allowance, bought credits, and the day's exports. */
type Axis = 'daily' | 'monthly' | 'credits' | 'exports';

export interface Exhausted {
  /**
   * What the account can do about it. `credits`: too few are left; buy more. `daily` or `monthly`: it never had
   * credits; it may also wait. `exports`: buy a plan or wait.
   */
  axis: Axis;
  axes: Axis[];
}

/** What pays for the next request, or which axis is exhausted (protocol 9.4). */
export function nextSource(usage: AccountUsage): { from: Source } | { exhausted: Exhausted } {
  if (dayAllowance(usage).remaining > 0) return { from: 'included' };
  if (usage.balance >= REQUEST_COST) return { from: 'credits' };
  const included = isMonthSpent(usage) ? 'monthly' : 'daily';
  return { exhausted: { axis: usage.bought ? 'credits' : included, axes: [included, 'credits'] } };
}

function isMonthSpent(usage: AccountUsage): boolean {
  return usage.terms.plan === 'monthly' && monthAllowance(usage).remaining === 0;
}

/** When the allowance resets, in ms: at the end of the day, or of the month when that is spent. */
export function includedAgainAt(usage: AccountUsage): number {
  return isMonthSpent(usage) ? nextMonthAt(usage.at) : nextDayAt(usage.at);
}

export function afterRequest(usage: AccountUsage, as: keyof Counts): AccountUsage {
  const plus = (counts: Counts): Counts => ({ ...counts, [as]: counts[as] + 1 });
  return {
    ...usage,
    today: plus(usage.today),
    month: plus(usage.month),
    balance: usage.balance - (as === 'drawn' ? REQUEST_COST : 0),
  };
}

/**
 * How an account is metered: by a daily allowance, which is also expressed in credits, or by the legacy monthly
 * allowance (protocol 9.4).
 */
export const PLANS = ['daily', 'monthly'] as const;
export type Plan = (typeof PLANS)[number];

/** The largest burst multiple: one day of a monthly plan cannot use more than its month. */
export const BURST_MAX = 31;

export interface Terms {
  plan: Plan;
  /** How many daily shares may be used in one day; 1 means no burst. */
  burst: number;
  /** The daily share: included requests per day. */
  daily: number;
  /** The bought plan in force, which is metered by the day; null for none. */
  bought: { name: string; ends_at: number } | null;
}

/**
 * The day to which a request is counted, as a time in ms. If the clock was set back, a day is not reopened once a later
 * one has counted.
 */
export function accountingTime(now: number, lastDay: string | null): number {
  return lastDay !== null && lastDay > dayOf(now) ? Date.parse(lastDay) : now;
}
