import { DAY } from '../../proof/time.ts';
import type { DeskEvent } from '../event.ts';

/** A stored event, with its number in the order of all events. */
export type StoredEvent = DeskEvent & {
  n: number;
  /** A lower-case ULID, the same for every receiver. */
  id: string;
};

/** How far a queue has processed the events. */
interface EventCursor {
  /** The last event that was processed; 0 before the first. */
  n: number;
  /** For the event after that, the last receiver whose message is queued; empty before the first. */
  after: string;
}

/**
 * Events for readers. Each queue has a cursor, which it moves in the transaction that queues a message, so that each
 * event is queued once.
 */
export interface EventTable {
  /** The first event after a number, or null. */
  next(n: number): StoredEvent | null;
  /** The cursor of a queue by name; at the start for a new name. */
  cursor(name: string): EventCursor;
  setCursor(name: string, cursor: EventCursor): void;
  /** Whether the headline of an event's piece is withheld by now. */
  isWithheld(piece: string): boolean;
  /** The number of the newest event; 0 without any. */
  last(): number;
  /** Deletes events up to a time that every queue has processed. */
  forget(until: number): void;
}

/** Retention of events, in ms. */
export const EVENTS_KEPT = 30 * DAY;
