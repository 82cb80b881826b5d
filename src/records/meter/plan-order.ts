import { isoTime, SECOND } from '../../proof/time.ts';
import type { Payment } from './payment.ts';
import type { PlanPeriod, PlanTerms, SoldPlan } from './plan.ts';

/** An order of a plan, with the plan's terms at that moment. Times in ms. */
export interface PlanOrder extends PlanTerms {
  /** A lower-case ULID, which is also the receipt number. */
  id: string;
  account: string;
  /** The hash of the payment. */
  payment: string;
  /** The name of the plan. */
  plan: string;
  /** The price in words. */
  cost: string;
  /** The chain by its CAIP-2 name. */
  network: string;
  /** The token's address; null in orders of older versions. */
  asset: string | null;
  /** The payer's address. */
  payer: string;
  ordered_at: number;
}

/** A paid order. */
export interface PaidPlan extends PlanOrder, PlanPeriod {
  /** Per account, from 1, without gaps. */
  seq: number;
  transaction: string | null;
}

/** An order whose settlement has begun, with its payment. */
export interface OpenOrder {
  order: PlanOrder;
  payment: Payment;
}

/** The kinds of plan mails: the receipt, and reminders a week and a day before the end. */
export const PLAN_MAILS = ['receipt', 'week', 'day'] as const;
export type PlanMail = (typeof PLAN_MAILS)[number];

export interface PlanTable {
  /** The plans on sale, the cheapest per day first. */
  list(): SoldPlan[];
  find(name: string): SoldPlan | null;
  set(plan: SoldPlan): void;
  /** False when there is no such plan. */
  remove(name: string): boolean;
  /** The number of accounts whose plan has this name at a time (ms). */
  holders(name: string, at: number): number;

  /** Stores an order with its payment, before money may move. Repeating it changes nothing. */
  place(order: PlanOrder, payment: Payment): void;
  /** An account's order for a payment, and the plan if it is paid. */
  ordered(account: string, payment: string): { order: PlanOrder; paid: PaidPlan | null } | null;
  /** Orders whose settlement has no known end, with ids after `after`, oldest first. */
  open(after: string, limit: number): OpenOrder[];
  /** Deletes an order that was not paid and no longer can be. */
  drop(id: string): void;
  /**
   * Records that an order is paid, from when it is in force. Returns the paid order, also if it was recorded before.
   */
  grant(id: string, at: number, transaction: string | null): PaidPlan;
  /** The account's last bought plan, whether or not it has ended. */
  last(account: string): PaidPlan | null;
  /** The account's bought plans, newest first. */
  receipts(account: string): PaidPlan[];
  receipt(account: string, id: string): PaidPlan | null;

  /** The last plans of accounts that end after `from` and at or before `until` and have no mail of this kind yet. */
  ending(kind: PlanMail, from: number, until: number): PaidPlan[];
  /** Records a mail of this kind. False when there is one already. */
  noteMail(order: string, kind: PlanMail, mail: string): boolean;
  /** The plan and kind of a mail. */
  ofMail(mail: string): { kind: PlanMail; paid: PaidPlan } | null;
  /**
   * Accounts whose last plan ended at or before `until` (ms) and that have more than `hostnames` hostnames in their
   * groups.
   */
  ended(until: number, hostnames: number): string[];
  /** Problems in words: paid orders whose period does not follow from the previous one. */
  faults(): string[];
}

/** The plan in force at a time (ms): the last one bought, until it ends. */
export function planInForce(paid: PaidPlan | null, at: number): PaidPlan | null {
  return paid !== null && paid.ends_at > at ? paid : null;
}

/** A receipt as responses and pages show it: times in ISO 8601, `units` in atomic units of the payment token. */
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
