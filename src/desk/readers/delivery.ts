import { DAY } from '../../proof/time.ts';
import type {
  Attempt,
  DeliveryJob,
  DeliveryQueue,
  DeliveryState,
  WebhookState,
} from '../../shared/outbound/delivery.ts';

/** A message on its way to one webhook. Times in ms. */
interface Delivery {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  /** The event's id, which the receiver sees as `webhook-id`. */
  message: string;
  webhook: string;
  /** The receiver's hostname and port. */
  host: string;
  made_at: number;
  /** Requested manually: one attempt, and no retries. */
  by_hand: boolean;
}

/** A delivery as shown in lists. */
export interface DeliveryRecord extends Delivery, Pick<WebhookState, 'off_at' | 'off_reason'> {
  type: string;
  state: DeliveryState;
  due_at: number;
  /** Whether the webhook is a subscriber's. */
  of_subscriber: boolean;
  /** Oldest first. */
  attempts: Attempt[];
}

/** A leased delivery of a paper. */
export type PaperDeliveryJob = DeliveryJob & { paper: string };

export interface DeliveryTable extends DeliveryQueue<PaperDeliveryJob> {
  /** Stores a message. An existing message with the same id stays. */
  keepMessage(message: { id: string; type: string; body: string; made_at: number }): void;
  /** Queues a message for a webhook, due immediately. False when it was queued before. */
  queue(delivery: Delivery): boolean;
  /** Sends a delivery again: a waiting one keeps its retries, a settled one gets one attempt. False without one. */
  retry(paper: string, id: string, now: number): boolean;
  get(paper: string, id: string): DeliveryRecord | null;
  /** Newest first, after a given one; filtered by state or webhook. */
  list(
    paper: string,
    query: {
      limit: number;
      after?: string | undefined;
      state?: DeliveryState | undefined;
      webhook?: string | undefined;
    },
  ): DeliveryRecord[];
  /** The number of waiting deliveries, and when the first one is due, in ms. */
  waiting(): { count: number; next: number | null };
  /** Deletes all messages about a piece and their deliveries, including waiting ones. */
  forgetPiece(paper: string, piece: string): void;
  /** Deletes messages made at or before a time, and their deliveries, except those with waiting deliveries. */
  forget(until: number): void;
}

/** How long deliveries are listed, in ms. */
export const DELIVERIES_KEPT = 30 * DAY;
