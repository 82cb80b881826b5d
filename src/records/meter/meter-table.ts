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
  /** Null for a signed-in reader: nothing is counted for its minute. */
  key: string | null;
  at: number;
  isExport?: boolean;
}

/** The limits of an account without a plan, by which a bought one may only be higher. */
interface MeterLimits {
  daily: number;
  perMinute: number;
  /** Exports per UTC day; without it they are not limited. */
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
  /** Requests that were counted, those given back not among them. */
  units: number;
}

export interface KeyUse {
  name: string;
  /** When the last request of that day came in, in ms, to the minute. */
  at: number;
}

/** The meter of keyed requests. Each change is one transaction that holds the write lock from its start. */
export interface MeterTable {
  /**
   * Charges a unit to the day's allowance, else to credits, else not at all. It belongs to the day on which the request
   * came in. Null when the account no longer exists.
   */
  reserve(of: Charged, limits: MeterLimits): ReserveOutcome | null;
  /** Refunds a unit to its source, on the day it was charged; returns the account's usage after it. */
  refund(taken: Reservation, at: number, daily: number): AccountUsage | null;
  usage(account: string, at: number, daily: number): AccountUsage | null;
  /** Exports of an account on the day of a time (ms). */
  exports(account: string, at: number): number;
  /** The days since `since` (YYYY-MM-DD) with any request, oldest first. */
  days(account: string, since: string): UsageDay[];
  keys(account: string, at: number): KeyUsage[];
  /** Each day since `since` (YYYY-MM-DD) on which each key of an account had a request, oldest first. */
  keyDays(account: string, since: string): KeyDay[];
  /** The first day on which a key of the account had at least so many counted requests; 0 is any request. */
  firstUse(account: string, units: number): KeyUse | null;
  setBurst(account: string, burst: number): void;
  /** Deletes an account's usage. Its credit ledger is kept for the books, under an anonymous id and without notes. */
  forget(account: string, at: number): void;
}
