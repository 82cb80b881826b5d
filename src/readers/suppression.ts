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
  /** When the last mail that asks to confirm was queued in spite of it, in ms. */
  mailed_at: number | null;
}

export interface SuppressionTable {
  of(paper: string, reader: string): Suppression | null;
  /** Inserts one, or replaces the reader's former one. */
  put(suppression: Suppression): void;
  lift(paper: string, reader: string): void;
}

/** The shortest time between two mails that ask the same address to confirm, in ms: anybody can enter anybody's address. */
export const CONFIRM_REST = HOUR / 6;

/** The same for a confirmed reader who left the last such mail unanswered: every alert has a link to change the choices. */
export const UNANSWERED_REST = DAY;

/** The same for a suppressed reader: a request lifts nothing, but it may be the reader's own, and only a mail can ask. */
export const SUPPRESSED_REST: Record<SuppressionReason, number> = {
  unsubscribed: DAY,
  bounced: 7 * DAY,
  complained: 30 * DAY,
  by_hand: 30 * DAY,
};
