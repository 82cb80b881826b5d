/**
 * A line in an account's ledger of credits. `top_up` adds bought ones,
 * `correction` takes some away again; `draw` is what the requests of a whole
 * day cost, `refund` what came back of it afterwards.
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

/** What an operator or a payment does to a ledger. */
export interface CreditMove {
  at: number;
  /** Above nothing adds, below takes away. */
  amount: number;
  note: string | null;
  /** What it was paid by: no second entry of any account may name the same. */
  ref?: string | undefined;
}

export interface CreditLedger {
  /**
   * Enters a top-up or a correction. Nothing is entered when more would be taken
   * than is left (`too_little`), or when what paid for it was entered before
   * (`known`).
   */
  enter(account: string, move: CreditMove): CreditEntry | 'known' | 'too_little';
  /** Newest first. Brings the days before `at` into the ledger beforehand. */
  entries(account: string, at: number, page?: { before?: number; limit?: number }): CreditEntry[];
  /** Micro-credits left: the ledger's sum without what was drawn since its last draw. */
  balance(account: string): number;
  /** What does not hold, in words: a line that does not follow from the one before, a day whose lines are not what it drew. */
  faults(): string[];
}
