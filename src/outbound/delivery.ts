/** The state of a delivery: to be sent or retried, accepted by its receiver, or given up. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One attempt. Of the response, only the status is kept. */
export interface Attempt {
  /** When it began, in ms. */
  at: number;
  /** How long it took, in ms. */
  ms: number;
  /** The status of the response; null without one. */
  status: number | null;
  /** Null when the receiver accepted it; otherwise a stable word such as `timeout`. */
  error: string | null;
}

/** A delivery that one process has claimed, for itself alone until `lease`. */
export interface DeliveryJob {
  /** A lower-case ULID. */
  id: string;
  /** Which the receiver sees as `webhook-id`, the same on every attempt. */
  message: string;
  type: string;
  /** JSON. */
  body: string;
  webhook: string;
  /** The receiver's host and port. */
  host: string;
  /** Null when the webhook no longer exists. */
  url: string | null;
  secret: string | null;
  /** How often it was tried before. */
  tries: number;
  /** Asked for by hand: one attempt, and no retries. */
  by_hand: boolean;
  /** In ms. */
  lease: number;
}

/** What an attempt leads to. */
export type Settlement = { state: 'delivered' | 'failed' } | { state: 'waiting'; due_at: number };

/** A queue of deliveries. Times in ms. */
export interface DeliveryQueue<D extends DeliveryJob> {
  /** What is due, the longest overdue first, except to some hosts. */
  due(now: number, limit: number, except: string[]): { id: string; host: string }[];
  /** Claims those that are still due and that no other process has, until `lease`. */
  claim(ids: string[], now: number, lease: number): D[];
  /** Records an attempt and what it led to. False when the lease was lost: then nothing is recorded. */
  settle(claimed: DeliveryJob, attempt: Attempt, settlement: Settlement): boolean;
  /** When the first attempt was made. */
  firstAttempt(id: string): number | null;
  /** Gives up everything that waits for a webhook and is not being sent. */
  giveUp(webhook: string, now: number): void;
}

/** Why a webhook was switched off: its receiver said so (410), or it failed for days. */
export const OFF_REASONS = ['gone', 'failing'] as const;
export type OffReason = (typeof OFF_REASONS)[number];

/** A webhook's health. Times in ms. */
export interface WebhookState {
  /** Since when every attempt failed; null when the last one did not. */
  failing_since: number | null;
  off_at: number | null;
  off_reason: OffReason | null;
}

/** The health of webhooks, as the dispatcher records it. Times in ms. */
export interface WebhookStates {
  /** A receiver accepted a delivery: the webhook is on, whatever was before. */
  succeeded(id: string): void;
  /** A receiver failed. Returns since when it has, and whether the webhook is already off for that address. */
  failed(id: string, url: string, at: number): { since: number; isOff: boolean };
  /** Switches a webhook off for the address that it has. */
  switchOff(id: string, url: string, reason: OffReason, at: number): void;
}

/** Posts one request to a receiver. Never throws: the result says what went wrong. */
export interface WebhookClient {
  post(url: string, headers: Record<string, string>, body: string): Promise<Omit<Attempt, 'at'>>;
}
