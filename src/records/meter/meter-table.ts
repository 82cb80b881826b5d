import type { AccountUsage, Counts, Exhausted, Source } from './account-usage.ts';
import type { Rate } from './headers.ts';

export interface Reservation {
  account: string;
  key: string | null;
  day: string;
  from: Source;
  /** Whether it was taken from the free allowance, which all addresses of a mailbox share. */
  isShared: boolean;
  isExport: boolean;
}

export type ReserveOutcome = { usage: AccountUsage; rate: Rate } & (
  | { outcome: 'reserved'; reservation: Reservation }
  | ({ outcome: 'exhausted' } & Exhausted)
  | { outcome: 'too_fast' }
);

/** Who is charged for a request, and when it came in (ms). */
export interface Charged {
  account: string;
  /** Null for a signed-in reader: the minute limit is per key. */
  key: string | null;
  at: number;
  isExport?: boolean;
}

/** The limits of an account without a plan. A bought plan may only raise them. */
interface MeterLimits {
  daily: number;
  perMinute: number;
  /** Exports per UTC day; unlimited when absent. */
  exports?: number;
}

export interface UsageDay extends Counts {
  day: string;
}

export interface KeyUsage {
  key: string;
  today: number;
  month: number;
}

export interface KeyDay {
  key: string;
  name: string;
  day: string;
  /** Counted requests, without refunded ones. */
  units: number;
}

export interface KeyUse {
  name: string;
  /** The time of the day's last request, in ms, to the minute. */
  at: number;
}

/** The meter of keyed requests. Each change is one transaction that holds the write lock from its start. */
export interface MeterTable {
  /**
   * Charges a unit to the day's allowance, else to credits, else rejects it. It counts for the day on which the request
   * arrived. Null when the account no longer exists.
   */
  reserve(of: Charged, limits: MeterLimits): ReserveOutcome | null;
  /** Refunds a unit to its source, on the day it was charged; returns the account's usage after it. */
  refund(taken: Reservation, at: number, daily: number): AccountUsage | null;
  usage(account: string, at: number, daily: number): AccountUsage | null;
  /** The exports of an account on the day of `at` (ms). */
  exports(account: string, at: number): number;
  /** The days since `since` (YYYY-MM-DD) with requests, oldest first. */
  days(account: string, since: string): UsageDay[];
  keys(account: string, at: number): KeyUsage[];
  /** For each key of an account, the days since `since` (YYYY-MM-DD) with requests, oldest first. */
  keyDays(account: string, since: string): KeyDay[];
  /** The first day on which a key of the account had at least `units` counted requests; with 0, any request. */
  firstUse(account: string, units: number): KeyUse | null;
  setBurst(account: string, burst: number): void;
  /** Deletes an account's usage. Its credit ledger is kept for bookkeeping, under an anonymous id and without notes. */
  forget(account: string, at: number): void;
}
