/** The state of a delivery: to be sent or retried, accepted by its receiver, or given up. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One attempt. Only the status of the response is stored. */
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

/** A delivery that one process has leased, for itself alone until `lease`. */
export interface DeliveryJob {
  /** A lower-case ULID. */
  id: string;
  /** The `webhook-id` that the receiver sees, the same on every attempt. */
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
  /** The secret before, which signs too until a time in ms. */
  old_secret?: string | null;
  old_secret_until?: number | null;
  /** The number of earlier attempts. */
  tries: number;
  /** Requested manually: one attempt, and no retries. */
  by_hand: boolean;
  /** In ms. */
  lease: number;
}

/** The outcome of an attempt. */
export type Settlement = { state: 'delivered' | 'failed' } | { state: 'waiting'; due_at: number };

/** A queue of deliveries. Times in ms. */
export interface DeliveryQueue<D extends DeliveryJob> {
  /** Due deliveries, the most overdue first, except to some hosts. */
  due(now: number, limit: number, except: string[]): { id: string; host: string }[];
  /** Leases deliveries that are still due and that no other process has, until `lease`. */
  lease(ids: string[], now: number, lease: number): D[];
  /** Records an attempt and its outcome. False when the lease was lost; then nothing is recorded. */
  settle(leased: DeliveryJob, attempt: Attempt, settlement: Settlement): boolean;
  /** The time of the first attempt. */
  firstAttempt(id: string): number | null;
  /** Gives up the waiting deliveries of a webhook, except those being sent. */
  giveUp(webhook: string, now: number): void;
}

/** Why a webhook was switched off: its receiver is gone (410), or failed for days. */
export const OFF_REASONS = ['gone', 'failing'] as const;
export type OffReason = (typeof OFF_REASONS)[number];

/** A webhook's health. Times in ms. */
export interface WebhookState {
  /** The start of an unbroken run of failures; null when the last attempt succeeded. */
  failing_since: number | null;
  off_at: number | null;
  off_reason: OffReason | null;
}

/** The health of webhooks, as the dispatcher records it. Times in ms. */
export interface WebhookStates {
  /** Records that a receiver accepted a delivery, which switches the webhook on. */
  succeeded(id: string, at: number): void;
  /** Records that a receiver failed. Returns since when, and whether the webhook is off for that address. */
  failed(id: string, url: string, at: number): { since: number; isOff: boolean };
  /** Switches a webhook off for its present address. */
  switchOff(id: string, url: string, reason: OffReason, at: number): void;
}

/** Posts one request to a receiver. Never throws: the result says what went wrong. */
export interface WebhookClient {
  post(url: string, headers: Record<string, string>, body: string): Promise<Omit<Attempt, 'at'>>;
}
