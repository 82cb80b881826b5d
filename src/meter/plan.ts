/**
 * How an account is metered: by a daily allowance that is reckoned in credits
 * too, or by the legacy allowance of a month (spec, "Meter headers").
 */
export const PLANS = ['daily', 'monthly'] as const;
export type Plan = (typeof PLANS)[number];

/** The largest burst multiple: a day of a monthly plan cannot take more than its month. */
export const BURST_MAX = 31;

/** What an account may ask without bought credits. */
export interface Terms {
  plan: Plan;
  /** How many days' shares one day may take; 1 is its own alone. */
  burst: number;
  /** Requests that are included for each day: its share. */
  daily: number;
}
