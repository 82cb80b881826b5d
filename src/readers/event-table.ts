import type { DeskEvent } from '../desk/event.ts';
import { DAY } from '../time.ts';

/** A stored event, with its number in the order of all. */
export type KeptEvent = DeskEvent & {
  n: number;
  /** A lower-case ULID, the same for every receiver. */
  id: string;
};

/** How far a queue has processed the events. */
export interface EventMark {
  /** The last event that was processed; 0 before the first. */
  n: number;
  /** Of the event after that, the last receiver whose message is queued; empty before the first. */
  after: string;
}

/** Events for readers. Each queue keeps its own mark and moves it in the transaction that queues a message, so that each event is queued once. */
export interface EventTable {
  /** The first event after a number, or null. */
  next(n: number): KeptEvent | null;
  /** The mark of a name; at the start for a name that has none. */
  mark(name: string): EventMark;
  setMark(name: string, mark: EventMark): void;
  /** The number of the newest event; 0 without any. */
  last(): number;
  /** Deletes events of a time or before that every queue has processed. */
  forget(until: number): void;
}

/** How long events are kept, in ms. */
export const EVENTS_KEPT = 30 * DAY;
