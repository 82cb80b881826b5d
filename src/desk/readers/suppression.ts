import { DAY, HOUR } from '../../proof/time.ts';

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

/** The shortest interval between requests to confirm to one address, in ms: anyone can enter any address. */
export const CONFIRM_REST = HOUR / 6;

/** For a confirmed reader who left the last request unanswered: every alert has a link to change the choices. */
export const UNANSWERED_REST = DAY;

/** For a suppressed reader: a request lifts nothing, but it may be the reader's own. */
export const SUPPRESSED_REST: Record<SuppressionReason, number> = {
  unsubscribed: DAY,
  bounced: 7 * DAY,
  complained: 30 * DAY,
  by_hand: 30 * DAY,
};

/** Mailed requests to confirm a subscription that a mailbox has not answered. Times in ms. */
interface AskedMailbox {
  /** Of all papers, within a day. */
  total: number;
  /** Of one paper, with the times of the first and the last. */
  count: number;
  first_at: number;
  last_at: number;
}

export interface AskedMailboxTable {
  note(mailbox: string, paper: string, at: number): void;
  /** What was asked less than `ASKED_KEPT` before or, as after a clock was set back, after a time. */
  of(mailbox: string, paper: string, now: number): AskedMailbox;
  /** Forgets what was asked: its reader answered, or was erased. */
  clear(mailbox: string): void;
  /** Deletes what was asked at or before a time. */
  forget(until: number): void;
}

/** How long requests count, in ms. */
export const ASKED_KEPT = DAY;
/** The most unanswered requests to a mailbox in a day, over all papers, because anyone can enter any address. */
export const ASKED_DAILY = 10;
/** How many spellings of a mailbox's address a paper may ask at once, as for two people who share a mailbox. */
const ASKED_FREELY = 2;

/**
 * Whether a paper may ask a mailbox to confirm once more. After the first two requests the interval is as long as the
 * requests have lasted so far, as it is for a single address (`afterRequest`).
 */
export function mayAskMailbox({ total, count, first_at, last_at }: AskedMailbox, now: number): boolean {
  if (total >= ASKED_DAILY) return false;
  return count < ASKED_FREELY || now - last_at >= Math.max(CONFIRM_REST, last_at - first_at);
}
