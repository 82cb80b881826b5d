import { DAY } from '../time.ts';
/** How often a reader is told. */
export const CADENCES = ['instant', 'daily', 'weekly'] as const;
export type Cadence = (typeof CADENCES)[number];

/** What a reader wants to be told of. */
export interface Choices {
  cadence: Cadence;
  /** Names of sections; null means all, those to come too. */
  sections: string[] | null;
  /** Whether the video edition too. */
  cast: boolean;
}

/** What who chooses nothing gets (spec, "POST /api/v1/subscribers"). */
export const DEFAULT_CHOICES: Choices = { cadence: 'daily', sections: null, cast: true };

/** A reader who ordered alerts; confirmed or not yet. Times in ms. */
export interface Subscriber extends Choices {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  /** `readerOf` the paper and the address. */
  reader: string;
  email: string;
  /** What a later order of a confirmed reader asks for, until that is confirmed too. */
  asked: Choices | null;
  made_at: number;
  ordered_at: number;
  /** When a mail that asks to confirm was queued last. */
  mailed_at: number | null;
  confirmed_at: number | null;
  last_sent_at: number | null;
  webhook: string | null;
  webhook_secret: string | null;
}

/** How long an order waits to be confirmed before it is forgotten, in ms. */
export const UNCONFIRMED_KEPT = 14 * DAY;

export interface SubscriberTable {
  /** Puts a row in, or in the place of the one of the same id. */
  put(row: Subscriber): void;
  of(paper: string, reader: string): Subscriber | null;
  byId(id: string): Subscriber | null;
  remove(id: string): void;
  /** Rows, and those among them that are confirmed. */
  counts(paper: string): { total: number; confirmed: number };
  /** In the order of their ids, from after one of them. */
  list(paper: string, query: { limit: number; after?: string | undefined }): Subscriber[];
  markMailed(id: string, at: number): void;
  /** Drops orders made at or before a time and not confirmed. */
  forget(until: number): void;
}
