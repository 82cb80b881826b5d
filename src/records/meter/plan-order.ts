import { isoTime, SECOND } from '../../proof/time.ts';
import type { Payment } from './payment.ts';
import type { PlanPeriod, PlanTerms, SoldPlan } from './plan.ts';

/** A plan as an account ordered it, with the terms of that moment. Times in ms. */
export interface PlanOrder extends PlanTerms {
  /** A lower-case ULID, the number of the receipt. */
  id: string;
  account: string;
  /** The hash of the payment. */
  payment: string;
  /** The name of the plan. */
  plan: string;
  /** The price in words. */
  cost: string;
  /** As CAIP-2 names it. */
  network: string;
  /** The token's address; null in orders of older versions. */
  asset: string | null;
  /** The payer's address. */
  payer: string;
  ordered_at: number;
}

/** An order whose money arrived. */
export interface PaidPlan extends PlanOrder, PlanPeriod {
  /** Per account, from 1, without gaps. */
  seq: number;
  transaction: string | null;
}

/** An order whose settlement has begun, and its payment. */
export interface OpenOrder {
  order: PlanOrder;
  payment: Payment;
}

/** What mails say of a plan: that it is paid, and that it ends in a week or in a day. */
export const PLAN_MAILS = ['receipt', 'week', 'day'] as const;
export type PlanMail = (typeof PLAN_MAILS)[number];

export interface PlanTable {
  /** The plans on sale, the cheapest per day first. */
  list(): SoldPlan[];
  find(name: string): SoldPlan | null;
  set(plan: SoldPlan): void;
  /** False when there is no such plan. */
  remove(name: string): boolean;
  /** How many accounts hold a plan at a time. */
  holders(name: string, at: number): number;

  /** Stores an order before its money may move, with its payment; once. */
  place(order: PlanOrder, payment: Payment): void;
  /** The order of an account that was placed with a payment. */
  ordered(account: string, payment: string): { order: PlanOrder; paid: PaidPlan | null } | null;
  /** Orders whose settlement is not known to have ended, after an id, oldest first. */
  open(after: string, limit: number): OpenOrder[];
  /** Forgets an order that was not paid and cannot be any more. */
  drop(id: string): void;
  /** Records that an order is paid, and from when it is in force. Returns it as it is now, also if it was paid before. */
  grant(id: string, at: number, transaction: string | null): PaidPlan;
  /** What an account bought last, ended or not. */
  last(account: string): PaidPlan | null;
  /** What an account bought, newest first. */
  receipts(account: string): PaidPlan[];
  receipt(account: string, id: string): PaidPlan | null;

  /** The last plans of accounts that end after `from` and at or before `until`, without a mail of a kind. */
  ending(kind: PlanMail, from: number, until: number): PaidPlan[];
  /** Notes the mail of a kind. False when there is one. */
  noteMail(order: string, kind: PlanMail, mail: string): boolean;
  /** What a mail is about. */
  ofMail(mail: string): { kind: PlanMail; paid: PaidPlan } | null;
  /** Accounts whose last plan ended at or before a time (ms), and that have more hostnames in their groups. */
  ended(until: number, hostnames: number): string[];
  /** In words: paid orders whose period does not follow from the one before. */
  faults(): string[];
}

/** The plan that is in force at a time (ms): the last one that was bought, until it ends. */
export function planInForce(paid: PaidPlan | null, at: number): PaidPlan | null {
  return paid !== null && paid.ends_at > at ? paid : null;
}

/** A receipt as responses and pages show it: times in ISO 8601, the address as in `accepts`. */
export function planReceipt(paid: PaidPlan) {
  const { id, plan, daily, per_minute, watch, streams, exports, days, cost, price, network, payer, transaction } = paid;
  return {
    ...{ id, plan, days, limits: { daily, per_minute, watch, streams, exports } },
    ...{ cost, units: String(price), network, payer, transaction },
    ordered_at: isoTime(paid.ordered_at),
    starts_at: isoTime(paid.starts_at),
    ends_at: isoTime(paid.ends_at),
    carried_seconds: Math.floor(paid.carried / SECOND),
  };
}

/** The plan in force, as responses name it. */
export function planInWords(bought: PaidPlan | null): { name: string; ends_at: string } | null {
  return bought === null ? null : { name: bought.plan, ends_at: isoTime(bought.ends_at) };
}
