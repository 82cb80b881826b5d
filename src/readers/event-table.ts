import type { DeskEvent } from '../desk/event.ts';
import { DAY } from '../time.ts';

/** An event as it is kept, with its place in the order of all. */
export type KeptEvent = DeskEvent & {
  n: number;
  /** A lower-case ULID, the same for everybody who is told. */
  id: string;
};

/** How far somebody has come who tells of events. */
export interface EventMark {
  /** The last event that is through; 0 before the first. */
  n: number;
  /** Of the event after that, the last receiver who is through; empty before the first. */
  after: string;
}

/**
 * What readers are to be told of. Whoever tells keeps a mark of its own, moves
 * it in the transaction that queues what it sends, and so tells each event once.
 */
export interface EventTable {
  /** The first event after a place, or null. */
  next(n: number): KeptEvent | null;
  /** The mark of a name; at the very beginning for a name that has none. */
  mark(name: string): EventMark;
  setMark(name: string, mark: EventMark): void;
  /** The place of the newest event; 0 without any. */
  last(): number;
  /** Drops events of a time or before that everybody is through with. */
  forget(until: number): void;
}

/** For how long events are kept, in ms. */
export const EVENTS_KEPT = 30 * DAY;
