import { DAY } from '../../proof/time.ts';
import { CONFIRM_REST, SUPPRESSED_REST, type Suppression, UNANSWERED_REST } from './suppression.ts';

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

/** The stored state of one reader of one paper. */
export interface SubscriberState {
  row: Subscriber | null;
  suppression: Suppression | null;
  /** Whether the reader's mailbox may get another request to confirm (`mayAskMailbox`). */
  mayAsk?: boolean;
}

/** The identity of a new row. */
export interface Who {
  id: string;
  paper: string;
  reader: string;
  email: string;
}

/** The state after a request to subscribe, and whether to mail a request to confirm. */
export interface Outcome {
  state: SubscriberState;
  asksToConfirm: boolean;
}

/**
 * Handles a reader's own request. It does not change what is in force: an unconfirmed row takes the new choices, a
 * confirmed one stores them beside its own, and a suppression stays. The confirmation settles all of that.
 */
export function afterRequest(
  { row, suppression, mayAsk = true }: SubscriberState,
  who: Who,
  choices: Choices,
  now: number,
): Outcome {
  const rest = suppression === null ? restOf(row) : SUPPRESSED_REST[suppression.reason];
  const last = Math.max(row?.mailed_at ?? -Infinity, suppression?.mailed_at ?? -Infinity);
  const asksToConfirm = mayAsk && now - last >= rest;
  const requested = { ordered_at: now, mailed_at: asksToConfirm ? now : (row?.mailed_at ?? null) };
  return {
    asksToConfirm,
    state: {
      row:
        row === null
          ? { ...newRow(who, choices, now), ...requested }
          : row.confirmed_at === null
            ? { ...row, ...choices, ...requested }
            : { ...row, asked: choices, ...requested },
      suppression: suppression !== null && asksToConfirm ? { ...suppression, mailed_at: now } : suppression,
    },
  };
}

/**
 * How long until the reader may be asked again, in ms. For a reader who never answered the interval is as long as the
 * requests have lasted so far, and so it grows: 10, 20, 40 minutes.
 */
function restOf(row: Subscriber | null): number {
  if (row?.confirmed_at === null) return Math.max(CONFIRM_REST, (row.mailed_at ?? row.made_at) - row.made_at);
  return row?.asked == null ? CONFIRM_REST : UNANSWERED_REST;
}

/**
 * An admin's request: it changes nothing of suppressed readers, and only the webhook of confirmed ones. Choices that it
 * does not name stay as the reader had them, or get the default.
 */
export function afterAdminRequest(
  { row, suppression, mayAsk = true }: SubscriberState,
  who: Who,
  choices: Partial<Choices>,
  hook: Partial<Pick<Subscriber, 'webhook' | 'webhook_secret'>>,
  now: number,
): Outcome & { status: 'pending' | 'confirmed' | 'suppressed' } {
  if (suppression !== null) return { status: 'suppressed', asksToConfirm: false, state: { row, suppression } };
  if (row !== null && row.confirmed_at !== null) {
    return { status: 'confirmed', asksToConfirm: false, state: { row: { ...row, ...hook }, suppression } };
  }
  const before = row ?? newRow(who, DEFAULT_CHOICES, now);
  const { cadence, sections, cast } = { ...before, ...choices };
  const asked = { row: before, suppression, mayAsk };
  const { asksToConfirm, state } = afterRequest(asked, who, { cadence, sections, cast }, now);
  return { status: 'pending', asksToConfirm, state: { ...state, row: { ...(state.row ?? before), ...hook } } };
}

/** The row after the reader's own confirmation: the requested choices take effect. */
export function afterConfirmation(row: Subscriber, now: number): Subscriber {
  return { ...row, ...row.asked, asked: null, confirmed_at: row.confirmed_at ?? now };
}

function newRow(who: Who, choices: Choices, now: number): Subscriber {
  return {
    ...who,
    ...choices,
    asked: null,
    made_at: now,
    ordered_at: now,
    mailed_at: null,
    confirmed_at: null,
    last_sent_at: null,
    webhook: null,
    webhook_secret: null,
  };
}
