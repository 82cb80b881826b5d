import { DAY } from '../time.ts';
/** How often a reader gets mail. */
export const CADENCES = ['instant', 'daily', 'weekly'] as const;
export type Cadence = (typeof CADENCES)[number];

/** What a reader wants mail about. */
export interface Choices {
  cadence: Cadence;
  /** Names of sections; null means all, including future ones. */
  sections: string[] | null;
  /** Whether the video edition too. */
  cast: boolean;
}

/** The default choices (spec, "POST /api/v1/subscribers"). */
export const DEFAULT_CHOICES: Choices = { cadence: 'daily', sections: null, cast: true };

/** A reader who subscribed to alerts; confirmed or not yet. Times in ms. */
export interface Subscriber extends Choices {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  /** `readerOf` the paper and the address. */
  reader: string;
  email: string;
  /** What a confirmed reader requested later, until that is confirmed too. */
  asked: Choices | null;
  made_at: number;
  ordered_at: number;
  /** When the last mail that asks to confirm was queued. */
  mailed_at: number | null;
  confirmed_at: number | null;
  last_sent_at: number | null;
  webhook: string | null;
  webhook_secret: string | null;
}

/** How long a request waits to be confirmed before it is deleted, in ms. */
export const UNCONFIRMED_KEPT = 14 * DAY;

export interface SubscriberTable {
  /** Inserts a row, or replaces the one of the same id. */
  put(row: Subscriber): void;
  of(paper: string, reader: string): Subscriber | null;
  byId(id: string): Subscriber | null;
  remove(id: string): void;
  /** How many rows there are, and how many are confirmed. */
  counts(paper: string): { total: number; confirmed: number };
  /** In the order of their ids, after one of them. */
  list(paper: string, query: { limit: number; after?: string | undefined }): Subscriber[];
  /** Records when a reader was sent the last alert or digest. */
  markMailed(id: string, at: number): void;
  /** Deletes requests made at or before a time and not confirmed. */
  forget(until: number): void;
}
