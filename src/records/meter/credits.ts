import { isoTime } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';

/** Micro-credits per credit. Amounts are whole micro-credits, so nothing is ever rounded. */
export const CREDIT = 1_000_000;

/** The price of a request past the allowance: 0.05 credits (protocol 9.4). */
export const REQUEST_COST = 50_000;

/** The largest amount of one entry: 1,000,000 credits. */
const CREDITS_MAX = 1_000_000 * CREDIT;

/** Micro-credits as credits, precise enough to print every amount that the ledger may hold. */
export function creditsOf(micro: number): number {
  return micro / CREDIT;
}

/**
 * Parses `25` or `0.05`, with at most six decimals, into micro-credits; null unless positive and at most `CREDITS_MAX`.
 */
function parseCredits(text: string): number | null {
  const [, whole, decimals = ''] = /^(\d{1,7})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const micro = Number(whole) * CREDIT + Number(decimals.padEnd(6, '0'));
  return micro > 0 && micro <= CREDITS_MAX ? micro : null;
}

/**
 * `top_up` adds bought credits, `correction` removes some. `draw` is the cost of a day's requests, or of those up to a
 * top-up or correction on that day. `refund` returns part of a draw that was already posted.
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

/** A line as shown to the account: `seq` is null for the current day's draws, which are not in the ledger yet. */
export type CreditLine = Omit<CreditEntry, 'seq'> & { seq: number | null };

interface CreditChange {
  at: number;
  /** Micro-credits; negative for a deduction. */
  amount: number;
  note: string | null;
  /** The payment; unique among all entries of all accounts. */
  ref?: string | undefined;
}

export interface CreditLedger {
  /**
   * Appends a top-up or a correction, after posting earlier draws. Appends nothing when the balance is too low
   * (`too_little`), or when the same payment was appended before (`known`).
   */
  append(account: string, move: CreditChange): CreditEntry | 'known' | 'too_little';
  /** Newest first. Posts the draws of the days before `at`; the draws since are the first line of the first page. */
  entries(account: string, at: number, page?: { before?: number; limit?: number }): CreditLine[];
  /** Micro-credits left: the ledger's balance less the draws that are not posted yet. */
  balance(account: string): number;
  /**
   * Problems in words: lines that do not follow from the previous one, and days whose lines do not add up to their
   * draws.
   */
  faults(): string[];
}

/** The longest note in the ledger, in UTF-16 units. */
export const NOTE_MAX = 200;

/** Micro-credits from `25`, `0.05`, or `-5` for a deduction. Throws `invalid_request` naming the field. */
export function amountFrom(text: string, field: string): number {
  const amount = parseCredits(text.replace(/^[+-]/, ''));
  if (amount !== null) return text.startsWith('-') ? -amount : amount;
  const message = `${field}: ${JSON.stringify(text.slice(0, 40))} is not an amount of credits; give one such as 25 or 0.05, with at most six decimals and at most ${creditsOf(CREDITS_MAX)}, or -5 to deduct`;
  throw new Fault('invalid_request', message, { field });
}

/** A note in NFC; null for an empty one. Throws `invalid_request` naming the field. */
export function noteFrom(text: string | undefined, field: string): string | null {
  const note = text?.normalize('NFC').trim() ?? '';
  if (note === '') return null;
  if (note.length <= NOTE_MAX && !/[\p{Cc}\u2028\u2029]/u.test(note) && note.isWellFormed()) return note;
  throw new Fault('invalid_request', `${field}: must be one line of at most ${NOTE_MAX} characters`, { field });
}

export function appendCredits(
  ledger: CreditLedger,
  account: string,
  move: { at: number; amount: number; note: string | null },
): CreditEntry {
  const entry = ledger.append(account, move);
  if (typeof entry === 'object') return entry;
  const message = `${creditsOf(-move.amount)} credits cannot be deducted: only ${creditsOf(ledger.balance(account))} are left`;
  throw new Fault('conflict', message);
}

/** A line of the ledger as pages and responses show it: amounts in credits, times in ISO 8601. */
export function creditRow<L extends CreditLine>({ seq, at, kind, amount, balance, day, note }: L) {
  return {
    seq: seq as L['seq'],
    at: isoTime(at),
    kind,
    amount: creditsOf(amount),
    balance: creditsOf(balance),
    day,
    note,
  };
}
