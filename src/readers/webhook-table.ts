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
  /** Whether to include the video edition. */
  cast: boolean;
  made_at: number;
}

/** A webhook that events are sent to. */
export interface Receiver {
  id: string;
  url: string;
}

/** The receivers of an event: those of any of these sections; for null, those that include the video edition. */
export interface Audience {
  paper: string;
  sections: string[] | null;
}

export interface WebhookTable extends WebhookStates {
  add(webhook: Webhook): void;
  /** Removes a webhook of the desk's own, with its deliveries. False when there is none. */
  remove(paper: string, id: string): boolean;
  /** The desk's own webhooks, oldest first. */
  list(paper: string): (Webhook & WebhookState)[];
  get(paper: string, id: string): (Webhook & WebhookState) | null;
  /** A webhook that accepts a test, on or off: the desk's own, or a confirmed subscriber's. */
  receiver(paper: string, id: string): Receiver | null;
  /** Registers the webhooks of confirmed subscribers. */
  register(paper: string, at: number): void;
  /** Active receivers, including those of confirmed subscribers, ordered by id, after a given one. */
  receivers(audience: Audience, after: string, limit: number): Receiver[];
  /** A paper's webhooks that were switched off at or after a time (ms) and still are, oldest first. */
  offSince(paper: string, at: number): WebhookOff[];
}
