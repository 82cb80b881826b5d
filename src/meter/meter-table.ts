import type { AccountUsage, Counts, Exhausted, Source } from './account-usage.ts';
import type { Rate } from './rate.ts';

/** A request that was counted, with all that giving it back takes. */
export interface Reservation {
  account: string;
  key: string;
  /** The UTC day on which it came in. */
  day: string;
  from: Source;
}

/** What became of a request at the meter, and where its account stands with it. */
export type ReserveOutcome = { usage: AccountUsage; rate: Rate } & (
  | { outcome: 'reserved'; reservation: Reservation }
  | ({ outcome: 'exhausted' } & Exhausted)
  | { outcome: 'too_fast' }
);

export interface MeterLimits {
  /** Requests a day that an account includes. */
  daily: number;
  /** Requests a minute that a key may make. */
  perMinute: number;
}

export interface UsageDay extends Counts {
  day: string;
}

/** A key's units. */
export interface KeyUsage {
  key: string;
  today: number;
  month: number;
}

/**
 * The meter of keyed requests. Whatever changes it is one transaction that
 * holds the one write lock of the database from its beginning, so that no other
 * request, of this process or another, comes between looking and counting.
 */
export interface MeterTable {
  /**
   * Takes the unit of a request that comes in at a time: out of the day's
   * allowance, else out of credits, else not at all. It belongs to the day on
   * which it came in, however long its answer takes. Null when there is no such
   * account any more.
   */
  reserve(of: { account: string; key: string; at: number }, limits: MeterLimits): ReserveOutcome | null;
  /** Gives a unit back to where it came from, on the day it was taken, and tells where the account stands now. */
  refund(taken: Reservation, at: number, daily: number): AccountUsage | null;
  usage(account: string, at: number, daily: number): AccountUsage | null;
  /** The days from `since` (YYYY-MM-DD) on that have any request, oldest first. */
  days(account: string, since: string): UsageDay[];
  /** Of every key of the account that was used this month. */
  keys(account: string, at: number): KeyUsage[];
  setBurst(account: string, burst: number): void;
  /**
   * Forgets what an account asked. Its ledger of credits is kept, as books are,
   * under an id that leads to nobody once the account is gone; what was noted in
   * it is struck out.
   */
  forget(account: string, at: number): void;
}
