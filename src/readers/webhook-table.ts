/** A webhook that is switched off. */
export interface WebhookOff {
  id: string;
  url: string;
  off_reason: OffReason;
  of_subscriber: boolean;
}

/** Why a webhook was switched off: its receiver said so (410), or it failed for days. */
export const OFF_REASONS = ['gone', 'failing'] as const;
export type OffReason = (typeof OFF_REASONS)[number];

/** How a webhook does. Times in ms. */
export interface WebhookState {
  /** Since when every attempt failed; null when the last one did not. */
  failing_since: number | null;
  off_at: number | null;
  off_reason: OffReason | null;
}

/** A webhook of the desk's own. */
export interface Webhook {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  url: string;
  /** `whsec_` and base64. */
  secret: string;
  /** Names of sections; null means all, those to come too. */
  sections: string[] | null;
  /** Whether the video edition too. */
  cast: boolean;
  made_at: number;
}

/** Whom an event is to be told. */
export interface Receiver {
  id: string;
  url: string;
}

/** Which receivers an event is for: those of any of these sections; for null, those who want the video edition. */
export interface Audience {
  paper: string;
  sections: string[] | null;
}

/** How webhooks do, as whoever sends to them notes it. */
export interface WebhookStates {
  /** A receiver took something: it is on, whatever was before. */
  took(id: string): void;
  /** A receiver failed. Returns since when it has, in ms, and whether it is switched off by now for that address. */
  failed(id: string, url: string, at: number): { since: number; isOff: boolean };
  /** Switches a webhook off for the address that it has. */
  switchOff(id: string, url: string, reason: OffReason, at: number): void;
}

export interface WebhookTable extends WebhookStates {
  add(webhook: Webhook): void;
  /** Takes one of the desk's own away, with its deliveries. False when there is none. */
  remove(paper: string, id: string): boolean;
  /** The desk's own, oldest first. */
  list(paper: string): (Webhook & WebhookState)[];
  get(paper: string, id: string): (Webhook & WebhookState) | null;
  /** One that may be sent to, on or off: the desk's own, or a confirmed subscriber's. */
  receiver(paper: string, id: string): Receiver | null;
  /** Brings in the webhooks of subscribers who have confirmed. */
  register(paper: string, at: number): void;
  /** Receivers that are on, in the order of their ids, from after one of them; confirmed subscribers' among them. */
  receivers(audience: Audience, after: string, limit: number): Receiver[];
  /** Those of a paper that were switched off at or after a time (ms) and still are, oldest first. */
  offSince(paper: string, at: number): WebhookOff[];
}
