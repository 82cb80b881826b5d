/**
 * Kinds of lines in an account's credit ledger. `top_up` adds bought credits, `correction` removes some; `draw` is the
 * cost of a day's requests, or of those up to a top-up or correction on that day; `refund` is what was refunded later.
 */
export const CREDIT_KINDS = ['top_up', 'correction', 'draw', 'refund'] as const;
export type CreditKind = (typeof CREDIT_KINDS)[number];

export interface CreditEntry {
  /** Per account, from 1, without gaps. */
  seq: number;
  /** In ms. */
  at: number;
  kind: CreditKind;
  /** Micro-credits; negative for a deduction. */
  amount: number;
  /** The sum of this line and all before it. */
  balance: number;
  /** The day of a draw or a refund, YYYY-MM-DD. */
  day: string | null;
  note: string | null;
}

/** A line as it is shown: `seq` is null for the current day's draws, which are not in the ledger yet. */
export type CreditLine = Omit<CreditEntry, 'seq'> & { seq: number | null };

/** A change by an operator or a payment. */
export interface CreditChange {
  at: number;
  /** Micro-credits; negative for a deduction. */
  amount: number;
  note: string | null;
  /** The payment; unique among all entries of all accounts. */
  ref?: string | undefined;
}

export interface CreditLedger {
  /**
   * Appends a top-up or a correction, after posting earlier draws, so that its balance is the account's. Appends
   * nothing when the balance is too low (`too_little`), or when the same payment was appended before (`known`).
   */
  append(account: string, move: CreditChange): CreditEntry | 'known' | 'too_little';
  /**
   * Newest first. Posts the draws of the days before `at` first; the draws since are the first line of the first page,
   * so that the newest balance is the account's.
   */
  entries(account: string, at: number, page?: { before?: number; limit?: number }): CreditLine[];
  /** Micro-credits left: the ledger's balance less the draws that are not posted yet. */
  balance(account: string): number;
  /**
   * Faults, in words: lines that do not follow from the previous one, and days whose lines do not add up to their
   * draws.
   */
  faults(): string[];
}
