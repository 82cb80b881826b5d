import { Fault } from '../fault.ts';
import { isoTime } from '../time.ts';
import type { CreditEntry, CreditLedger, CreditLine } from './credit-ledger.ts';
import { CREDITS_MAX, creditsOf, parseCredits } from './credits.ts';

/** The longest note in the ledger, in UTF-16 units. */
export const NOTE_MAX = 200;

/**
 * Parses an operator's amount into micro-credits: `25`, `0.05`, or `-5` for a deduction. Throws `invalid_request`
 * naming the field.
 */
export function amountFrom(text: string, field: string): number {
  const amount = parseCredits(text.replace(/^[+-]/, ''));
  if (amount !== null) return text.startsWith('-') ? -amount : amount;
  throw new Fault(
    'invalid_request',
    `${field}: ${JSON.stringify(text.slice(0, 40))} is not an amount of credits; give one such as 25 or 0.05, with at most six decimals and at most ${creditsOf(CREDITS_MAX)}, or -5 to deduct`,
    { field },
  );
}

/** A note in NFC; null for an empty one. Throws `invalid_request` naming the field. */
export function noteFrom(text: string | undefined, field: string): string | null {
  const note = text?.normalize('NFC').trim() ?? '';
  if (note === '') return null;
  if (note.length <= NOTE_MAX && !/[\p{Cc}\u2028\u2029]/u.test(note) && note.isWellFormed()) return note;
  throw new Fault('invalid_request', `${field}: must be one line of at most ${NOTE_MAX} characters`, { field });
}

/** Appends a top-up or a correction. Throws `conflict` when the balance is too low. */
export function appendCredits(
  ledger: CreditLedger,
  account: string,
  move: { at: number; amount: number; note: string | null },
): CreditEntry {
  const entry = ledger.append(account, move);
  if (typeof entry === 'object') return entry;
  throw new Fault(
    'conflict',
    `${creditsOf(-move.amount)} credits cannot be deducted: only ${creditsOf(ledger.balance(account))} are left`,
  );
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
