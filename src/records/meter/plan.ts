import { DAY } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import { HIGHEST_PRICE } from './payment-settings.ts';

/** An account's limits. No plan has lower ones than an account without a plan. */
export interface Limits {
  /** Included requests per UTC day. */
  daily: number;
  /** Requests per clock minute for each key. */
  per_minute: number;
  /** Hostnames in the account's groups. */
  watch: number;
  /** Open streams. */
  streams: number;
  /** Exports per UTC day. */
  exports: number;
}

/** The limits of a plan and its price, in atomic units of the payment token, for `days` days. */
export interface PlanTerms extends Limits {
  price: number;
  days: number;
}

/** A plan that the operator sells. */
export interface SoldPlan extends PlanTerms {
  name: string;
}

/** A name that no plan may have: it means the limits without a plan. */
export const FREE = 'free';

/** How far into the future a bought plan may reach, in ms. */
export const AHEAD_MAX = 3_660 * DAY;

const NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** The allowed range of each term. Products of terms, in credits and over a burst, stay safe integers. */
export const TERM_RANGES: Readonly<Record<keyof PlanTerms, readonly [least: number, most: number]>> = {
  daily: [1, 10_000_000],
  per_minute: [1, 100_000],
  watch: [0, 100_000],
  streams: [0, 1_000],
  exports: [0, 1_000_000],
  price: [1, HIGHEST_PRICE],
  days: [1, 366],
};

/** The name of a plan. Throws `invalid_request`. */
export function planNameFrom(text: string): string {
  if (NAME.test(text) && text !== FREE) return text;
  const message = `name: ${JSON.stringify(text.slice(0, 80))} is not the name of a plan; use 1 to 40 of a–z, 0–9 and -, beginning with a letter, other than ${FREE}`;
  throw new Fault('invalid_request', message, { field: 'name' });
}

/** A term as the operator writes it. Throws `invalid_request` naming the field. */
export function termFrom(term: keyof PlanTerms, text: string, field: string): number {
  const [least, most] = TERM_RANGES[term];
  const number = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (number >= least && number <= most) return number;
  const message = `${field}: ${JSON.stringify(text.slice(0, 80))} must be a whole number from ${least} to ${most}`;
  throw new Fault('invalid_request', message, { field });
}

/** The limits of an account that holds a plan, or none. */
export function limitsWith(free: Limits, plan: Limits | null): Limits {
  if (plan === null) return free;
  return {
    daily: Math.max(free.daily, plan.daily),
    per_minute: Math.max(free.per_minute, plan.per_minute),
    watch: Math.max(free.watch, plan.watch),
    streams: Math.max(free.streams, plan.streams),
    exports: Math.max(free.exports, plan.exports),
  };
}

/** The period of a bought plan, in ms. */
export interface PlanPeriod {
  starts_at: number;
  ends_at: number;
  /** The part of it that comes from the rest of the previous plan. */
  carried: number;
}

export type BoughtTerms = Pick<PlanTerms, 'price' | 'days'>;

/**
 * The period of a plan bought at `at` (ms). It starts at once, and the rest of the previous plan is converted by its
 * value: `left × previous price × days ÷ (previous days × price)`, in whole ms, rounded down. So renewing a plan with
 * the same price and days adds exactly its days. If the clock was set back, time already used is not given back.
 */
export function planPeriod(
  bought: BoughtTerms,
  before: (BoughtTerms & Pick<PlanPeriod, 'starts_at' | 'ends_at'>) | null,
  at: number,
): PlanPeriod {
  const starts_at = Math.max(at, before?.starts_at ?? 0);
  const left = Math.max(0, (before?.ends_at ?? 0) - starts_at);
  const own = bought.days * DAY;
  const worth = before === null ? 0n : BigInt(left) * BigInt(before.price) * BigInt(bought.days);
  const most = BigInt(AHEAD_MAX - own);
  const carried = worth / (BigInt(before?.days ?? 1) * BigInt(bought.price));
  const counted = Number(carried < most ? carried : most);
  return { starts_at, ends_at: starts_at + own + counted, carried: counted };
}

/** A plan as pages and responses show it; `days` and `price` are null for the free limits. */
export interface PlanRow extends Limits {
  name: string;
  days: number | null;
  /** In words; also null while payments are closed. */
  price: string | null;
  /** In atomic units of the token. */
  units: string | null;
}

/** The limits of a plan in words. */
export function limitsInWords({ daily, per_minute, watch, streams, exports }: Limits): string {
  return `${count(daily)} requests a day, ${count(per_minute)} a minute for each key, ${count(watch)} hostnames in groups, ${count(streams)} open streams, ${count(exports)} exports a day`;
}

const count = (number: number): string => number.toLocaleString('en');
