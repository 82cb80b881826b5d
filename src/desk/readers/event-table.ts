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
 * Events for readers. Each queue has a cursor, which moves in the transaction that queues a message, so that each event
 * is queued once.
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

/**
 * Queues the next event, or the next batch of its receivers: `queue` processes the receivers after a given one and
 * returns the last one processed, or null when none are left. The cursor moves in the same transaction, so that each
 * event is queued exactly once per receiver, even after a crash. Returns false when no event is left.
 */
export function advance(
  { events, transact }: { events: EventTable; transact<T>(work: () => T): T },
  name: string,
  queue: (event: StoredEvent, after: string) => string | null,
): boolean {
  // Checked outside of a transaction: most polls find nothing.
  if (events.next(events.cursor(name).n) === null) return false;
  return transact(() => {
    const cursor = events.cursor(name);
    const event = events.next(cursor.n);
    if (event === null) return false;
    const last = queue(event, cursor.after);
    events.setCursor(name, last === null ? { n: event.n, after: '' } : { n: cursor.n, after: last });
    return true;
  });
}

/** Retention of events, in ms. */
export const EVENTS_KEPT = 30 * DAY;
