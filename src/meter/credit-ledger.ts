/**
 * A line in an account's ledger of credits. `top_up` adds bought ones,
 * `correction` takes some away again; `draw` is what the requests of a day
 * cost, or those up to a top-up or correction in it, `refund` what came back of
 * that afterwards.
 */
export const CREDIT_KINDS = ['top_up', 'correction', 'draw', 'refund'] as const;
export type CreditKind = (typeof CREDIT_KINDS)[number];

export interface CreditEntry {
  /** Of the account, from 1, without gaps. */
  seq: number;
  /** Ms. */
  at: number;
  kind: CreditKind;
  /** Micro-credits; below nothing where they go. */
  amount: number;
  /** The sum of this line and all before it. */
  balance: number;
  /** The day of a draw or a refund, YYYY-MM-DD. */
  day: string | null;
  note: string | null;
}

/** A line as it is shown: `seq` is null for what has been drawn and is not entered yet, because its day is not over. */
export type CreditLine = Omit<CreditEntry, 'seq'> & { seq: number | null };

/** What an operator or a payment does to a ledger. */
export interface CreditChange {
  at: number;
  /** Above nothing adds, below takes away. */
  amount: number;
  note: string | null;
  /** What it was paid by: no second entry of any account may name the same. */
  ref?: string | undefined;
}

export interface CreditLedger {
  /**
   * Enters a top-up or a correction, after what was drawn before it, so that its
   * balance is the account's. Nothing is entered when more would be taken than is
   * left (`too_little`), or when what paid for it was entered before (`known`).
   */
  append(account: string, move: CreditChange): CreditEntry | 'known' | 'too_little';
  /**
   * Newest first. Brings the days before `at` into the ledger beforehand; what is drawn since is the first line of the
   * first page, so that the newest balance is the account's.
   */
  entries(account: string, at: number, page?: { before?: number; limit?: number }): CreditLine[];
  /** Micro-credits left: the ledger's sum without what was drawn since its last draw. */
  balance(account: string): number;
  /** What does not hold, in words: a line that does not follow from the one before, a day whose lines are not what it drew. */
  faults(): string[];
}
