/**
 * How an account is metered: by a daily allowance, which is also expressed in credits, or by the legacy monthly
 * allowance (protocol 9.4).
 */
export const PLANS = ['daily', 'monthly'] as const;
export type Plan = (typeof PLANS)[number];

/** The largest burst multiple: one day of a monthly plan cannot use more than its month. */
export const BURST_MAX = 31;

/** What an account may use without bought credits. */
export interface Terms {
  plan: Plan;
  /** How many daily shares one day may use; 1 is its own alone. */
  burst: number;
  /** The daily share: included requests per day. */
  daily: number;
}
