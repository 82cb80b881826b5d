import type { OffReason, WebhookState, WebhookStates } from '../outbound/delivery.ts';

/** A webhook that is switched off. */
export interface WebhookOff {
  id: string;
  url: string;
  off_reason: OffReason;
  of_subscriber: boolean;
}

/** A webhook of the desk's own. */
export interface Webhook {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  url: string;
  /** `whsec_` and base64. */
  secret: string;
  /** Names of sections; null means all, including future ones. */
  sections: string[] | null;
  /** Whether the video edition too. */
  cast: boolean;
  made_at: number;
}

/** A webhook that events are sent to. */
export interface Receiver {
  id: string;
  url: string;
}

/** Which receivers an event is for: those of any of these sections; for null, those who want the video edition. */
export interface Audience {
  paper: string;
  sections: string[] | null;
}

export interface WebhookTable extends WebhookStates {
  add(webhook: Webhook): void;
  /** Removes one of the desk's own, with its deliveries. False when there is none. */
  remove(paper: string, id: string): boolean;
  /** The desk's own, oldest first. */
  list(paper: string): (Webhook & WebhookState)[];
  get(paper: string, id: string): (Webhook & WebhookState) | null;
  /** A webhook that accepts a test, on or off: the desk's own, or a confirmed subscriber's. */
  receiver(paper: string, id: string): Receiver | null;
  /** Adds the webhooks of subscribers who have confirmed. */
  register(paper: string, at: number): void;
  /** Receivers that are on, confirmed subscribers' among them, by id, after one of them. */
  receivers(audience: Audience, after: string, limit: number): Receiver[];
  /** A paper's webhooks that were switched off at or after a time (ms) and still are, oldest first. */
  offSince(paper: string, at: number): WebhookOff[];
}
