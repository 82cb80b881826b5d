import { DAY } from '../time.ts';
import type { OffReason, WebhookState } from './webhook-table.ts';

/** Where a delivery stands: to be sent or sent again, taken by its receiver, or given up. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One attempt. Nothing of what was answered is kept but the status. */
export interface Attempt {
  /** When it began, in ms. */
  at: number;
  /** How long it took, in ms. */
  ms: number;
  /** The status of the answer; null without one. */
  status: number | null;
  /** Null when the receiver took it; else a word that stays the same, such as `timeout`. */
  error: string | null;
}

/** A message on its way to one webhook. Times in ms. */
export interface Delivery {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  /** The event's id, which the receiver sees as `webhook-id`. */
  message: string;
  webhook: string;
  /** The receiver's host and port. */
  host: string;
  made_at: number;
  /** Asked for by hand: one attempt, and no schedule. */
  by_hand: boolean;
}

/** A delivery as it is listed. */
export interface DeliveryRecord extends Delivery, Pick<WebhookState, 'off_at' | 'off_reason'> {
  type: string;
  state: DeliveryState;
  due_at: number;
  /** Whether the webhook is a subscriber's. */
  of_subscriber: boolean;
  /** Oldest first. */
  attempts: Attempt[];
}

/** A delivery that one process has taken to send, alone until `lease`. */
export interface Claimed {
  id: string;
  paper: string;
  message: string;
  type: string;
  body: string;
  webhook: string;
  host: string;
  /** Null when the webhook is none any more. */
  url: string | null;
  secret: string | null;
  tries: number;
  by_hand: boolean;
  lease: number;
}

/** What sending needs to know of a delivery, whoever it is for. */
export type DeliveryJob = Omit<Claimed, 'paper'>;

/** What an attempt leads to. */
export type Settlement = { state: 'delivered' | 'failed' } | { state: 'waiting'; due_at: number };

/** Deliveries, as whoever sends them sees them. */
export interface DeliveryQueue<D extends DeliveryJob> {
  /** What could be sent now, those due longest first, except to some hosts. */
  due(now: number, limit: number, except: string[]): { id: string; host: string }[];
  /** Takes those that are still due and that nobody else has, until `lease` (ms). */
  claim(ids: string[], now: number, lease: number): D[];
  /** Notes an attempt and what it led to. False when the lease was lost: then nothing is noted. */
  settle(claimed: DeliveryJob, attempt: Attempt, settlement: Settlement): boolean;
  /** When the first attempt was made, in ms. */
  firstAttempt(id: string): number | null;
  /** Gives up what waits for a webhook and is not being sent. */
  giveUp(webhook: string, now: number): void;
}

/** Which deliveries are listed. */
export interface DeliveryQuery {
  limit: number;
  after?: string | undefined;
  state?: DeliveryState | undefined;
  webhook?: string | undefined;
}

export interface DeliveryTable extends DeliveryQueue<Claimed> {
  /** Keeps what is to be sent; what is there of the same id stays. */
  keepMessage(message: { id: string; type: string; body: string; made_at: number }): void;
  /** Queues a message for a webhook, due at once. False when it was queued before. */
  queue(delivery: Delivery): boolean;
  /** Has one sent again, now: one that waits goes on with its schedule, another gets one attempt. False when there is none. */
  retry(paper: string, id: string, now: number): boolean;
  get(paper: string, id: string): DeliveryRecord | null;
  /** Newest first, from after one of them; those of a state, or to a webhook, where the query says so. */
  list(paper: string, query: DeliveryQuery): DeliveryRecord[];
  /** How many wait, and when the first of them is due, in ms. */
  waiting(): { count: number; next: number | null };
  /** Drops messages made at or before a time, with their deliveries, except what still waits. */
  forget(until: number): void;
}

/** For how long deliveries are listed, in ms. */
export const DELIVERIES_KEPT = 30 * DAY;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long after each attempt that failed the next one comes, in ms (wire.md); after the last of them it is given up. */
export const RETRIES = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** What an attempt leads to that ended at a time (ms). */
export function settlementOf(
  { tries, by_hand }: Pick<Claimed, 'tries' | 'by_hand'>,
  { status, error }: Attempt,
  ended: number,
): Settlement {
  if (error === null) return { state: 'delivered' };
  const wait = RETRIES[tries];
  if (by_hand || status === GONE || wait === undefined) return { state: 'failed' };
  return { state: 'waiting', due_at: ended + wait };
}

/** "The resource is gone, and that is meant to last": Standard Webhooks' way to end a subscription. */
export const GONE = 410;

/**
 * Whether an attempt that failed switches its webhook off, and why: the receiver
 * said that it is gone; or a whole schedule has passed in which it took nothing.
 */
export function offReason(
  { by_hand }: Pick<Claimed, 'by_hand'>,
  { status }: Attempt,
  settlement: Settlement,
  { failingSince, firstAttempt }: { failingSince: number; firstAttempt: number },
): OffReason | null {
  if (status === GONE) return 'gone';
  return settlement.state === 'failed' && !by_hand && failingSince <= firstAttempt ? 'failing' : null;
}

/** The word for a status that is no success (Standard Webhooks: a redirect is a failure); null for a success. */
export function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status === GONE) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}
