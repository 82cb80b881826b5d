import { DAY, HOUR } from '../time.ts';
/** Why a reader gets no mail. */
export type SuppressionReason = 'unsubscribed' | 'complained' | 'bounced' | 'by_hand';

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

/**
 * The minimum interval between two requests to confirm to the same address, in ms, because anyone can enter any
 * address.
 */
export const CONFIRM_REST = HOUR / 6;

/**
 * The same for a confirmed reader who left the last request unanswered: every alert has a link to change the choices.
 */
export const UNANSWERED_REST = DAY;

/**
 * The same for a suppressed reader. A request lifts nothing, but it may be the reader's own, and only a mail can find
 * out.
 */
export const SUPPRESSED_REST: Record<SuppressionReason, number> = {
  unsubscribed: DAY,
  bounced: 7 * DAY,
  complained: 30 * DAY,
  by_hand: 30 * DAY,
};
