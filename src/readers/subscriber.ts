import { DAY } from '../time.ts';
/** How often a reader gets mail. */
export const CADENCES = ['instant', 'daily', 'weekly'] as const;
export type Cadence = (typeof CADENCES)[number];

/** What a reader wants mail about. */
export interface Choices {
  cadence: Cadence;
  /** Names of sections; null means all, including future ones. */
  sections: string[] | null;
  /** Whether to include the video edition. */
  cast: boolean;
}

/** The choices of a reader who names none. */
export const DEFAULT_CHOICES: Choices = { cadence: 'daily', sections: null, cast: true };

/** A reader who requested a subscription, confirmed or not. Times in ms. */
export interface Subscriber extends Choices {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  /** `readerOf` the paper and the address. */
  reader: string;
  email: string;
  /** Choices that a confirmed reader requested later, until they are confirmed too. */
  asked: Choices | null;
  made_at: number;
  ordered_at: number;
  /** When the last request to confirm was queued. */
  mailed_at: number | null;
  confirmed_at: number | null;
  last_sent_at: number | null;
  webhook: string | null;
  webhook_secret: string | null;
}

/** Retention of unconfirmed requests, in ms. */
export const UNCONFIRMED_KEPT = 14 * DAY;

export interface SubscriberTable {
  /** Inserts a row, or replaces the one with the same id. */
  put(row: Subscriber): void;
  of(paper: string, reader: string): Subscriber | null;
  byId(id: string): Subscriber | null;
  remove(id: string): void;
  /** The number of rows, and of confirmed ones. */
  counts(paper: string): { total: number; confirmed: number };
  /** Ordered by id, after a given one. */
  list(paper: string, query: { limit: number; after?: string | undefined }): Subscriber[];
  /** Records when the last alert or digest was sent to a reader. */
  markMailed(id: string, at: number): void;
  /** Deletes unconfirmed requests made at or before a time. */
  forget(until: number): void;
}
