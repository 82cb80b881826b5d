import { DAY, HOUR } from '../../proof/time.ts';

/** How often a reader gets mail. */
export const CADENCES = ['instant', 'daily', 'weekly'] as const;
export type Cadence = (typeof CADENCES)[number];

/** What a reader wants mail about. */
export interface Choices {
  cadence: Cadence;
  /** Names of sections; null means all, including future ones. */
  sections: string[] | null;
  /** Whether to include the edition. */
  cast: boolean;
}

/** The choices of a reader who specifies none. */
export const DEFAULT_CHOICES: Choices = { cadence: 'daily', sections: null, cast: true };

/** A reader who requested a subscription, confirmed or not. Times in ms. */
export interface Subscriber extends Choices {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  /** `readerOf` the paper and the address. */
  reader: string;
  email: string;
  /** Choices that a confirmed reader requested later and has not confirmed yet. */
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

/** Selects readers for a list. */
export interface SubscriberQuery {
  limit: number;
  after?: string | undefined;
  /** Part of the address; ignores the case of a–z. */
  q?: string | undefined;
  confirmed?: boolean | undefined;
}

/** How many readers confirmed on a UTC day, and how many confirmed readers left. */
export interface ReaderDay {
  day: string;
  confirmed: number;
  left: number;
}

export interface SubscriberTable {
  /** Inserts a row, or replaces the one with the same id. */
  put(row: Subscriber): void;
  of(paper: string, reader: string): Subscriber | null;
  byId(id: string): Subscriber | null;
  /** Deletes a row. A confirmed reader is counted as left on the day of `at` (ms). */
  remove(id: string, at: number): void;
  /** The number of rows, and of confirmed ones. */
  counts(paper: string): { total: number; confirmed: number };
  /** Ordered by id, after a given one. */
  list(paper: string, query: SubscriberQuery): Subscriber[];
  /** How many readers confirmed and left on each UTC day from a day on, oldest first; omits days without either. */
  days(paper: string, from: string): ReaderDay[];
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

/** The identity for a new row. */
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
 * Handles a reader's own request. It changes nothing that is in force: an unconfirmed row takes the new choices, a
 * confirmed one stores them separately, and a suppression stays. Confirming applies the choices and lifts the
 * suppression.
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
 * How long until the reader may be asked again, in ms. If the reader never answered, the interval is the time from the
 * first request to the last, so that it doubles: 10, 20, 40 minutes.
 */
function restOf(row: Subscriber | null): number {
  if (row?.confirmed_at === null) return Math.max(CONFIRM_REST, (row.mailed_at ?? row.made_at) - row.made_at);
  return row?.asked == null ? CONFIRM_REST : UNANSWERED_REST;
}

/**
 * Handles an admin's request. Changes nothing for suppressed readers, and only the webhook for confirmed ones. Omitted
 * choices keep the reader's values, or get the defaults.
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

/** Why a reader gets no mail. */
type SuppressionReason = 'unsubscribed' | 'complained' | 'bounced' | 'by_hand';

export interface Suppression {
  paper: string;
  /** `readerOf` the paper and the address. */
  reader: string;
  /** Null once the address was erased. */
  email: string | null;
  reason: SuppressionReason;
  /** In ms. */
  at: number;
  /** When the last request to confirm was queued in spite of the suppression, in ms. */
  mailed_at: number | null;
}

export interface SuppressionTable {
  of(paper: string, reader: string): Suppression | null;
  /** Inserts a suppression, or replaces the reader's previous one. */
  put(suppression: Suppression): void;
  lift(paper: string, reader: string): void;
}

/** Minimum interval between requests to confirm to one address, in ms, because anyone can enter any address. */
export const CONFIRM_REST = HOUR / 6;

/** For a confirmed reader who left the last request unanswered: long, since every alert links to the choices. */
const UNANSWERED_REST = DAY;

/** The interval for a suppressed reader: a request does not lift the suppression, but it may come from the reader. */
export const SUPPRESSED_REST: Record<SuppressionReason, number> = {
  unsubscribed: DAY,
  bounced: 7 * DAY,
  complained: 30 * DAY,
  by_hand: 30 * DAY,
};

/** Unanswered requests to confirm that were mailed to a mailbox. Times in ms. */
interface AskedMailbox {
  /** From all papers, within a day. */
  total: number;
  /** From one paper, with the times of the first and the last. */
  count: number;
  first_at: number;
  last_at: number;
}

export interface AskedMailboxTable {
  note(mailbox: string, paper: string, at: number): void;
  /** The requests of the last `ASKED_KEPT`, and those dated in the future because the clock was set back since. */
  of(mailbox: string, paper: string, now: number): AskedMailbox;
  /** Deletes a mailbox's requests: its reader answered, or was erased. */
  clear(mailbox: string): void;
  /** Deletes requests made at or before a time. */
  forget(until: number): void;
}

/** How long requests count, in ms. */
export const ASKED_KEPT = DAY;
/** Maximum number of unanswered requests to a mailbox per day, over all papers: anyone can enter any address. */
export const ASKED_DAILY = 10;
/** How many requests a paper may send to a mailbox at once, for two people who share it under different spellings. */
const ASKED_FREELY = 2;

/**
 * Whether a paper may ask a mailbox to confirm once more. After the first two requests, the interval is the time from
 * the first request to the last, as for a single address (`afterRequest`).
 */
export function mayAskMailbox({ total, count, first_at, last_at }: AskedMailbox, now: number): boolean {
  if (total >= ASKED_DAILY) return false;
  return count < ASKED_FREELY || now - last_at >= Math.max(CONFIRM_REST, last_at - first_at);
}
