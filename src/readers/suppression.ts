import { DAY, HOUR } from '../time.ts';
/** Why a reader is not to be written to. */
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
  /** When a mail that asks to confirm was queued last in spite of it, in ms. */
  mailed_at: number | null;
}

export interface SuppressionTable {
  of(paper: string, reader: string): Suppression | null;
  /** Puts one in, or in the place of the reader's former one. */
  put(suppression: Suppression): void;
  lift(paper: string, reader: string): void;
}

/** How long after a mail that asks to confirm no other goes to the same address, in ms, at least: anybody can order for anybody. */
export const CONFIRM_REST = HOUR / 6;

/** The same for a reader who has confirmed, and left the last such mail unanswered: theirs has a link to change it. */
export const UNANSWERED_REST = DAY;

/**
 * The same where the reader is not to be written to: an order alone lifts
 * nothing, but who ordered may be the reader, and only a mail can ask.
 */
export const SUPPRESSED_REST: Record<SuppressionReason, number> = {
  unsubscribed: DAY,
  bounced: 7 * DAY,
  complained: 30 * DAY,
  by_hand: 30 * DAY,
};
