import { parseNote } from './note.ts';
import { isIsoTime, isoTime } from './time.ts';

/**
 * Corrections of a clock that ran ahead (protocol 6): signed notes, each a line of the ledger and a leaf of the log.
 * The receipts in its range were signed at its true time at the latest; where they say a later time, that time is
 * wrong.
 */

/** The first line of every correction. */
export const CLOCK_HEADER = 'clock/v1';

/** What a correction says. */
export interface ClockStatement {
  service: 'desk' | 'records';
  /** Null for the domain records, and for a correction of the desk that covers keys alone. */
  paper: string | null;
  /** The receipts whose times are wrong if they are later, by `seq`; null when no receipt is. */
  seqs: { first: number; last: number } | null;
  /** ISO 8601, UTC, milliseconds. */
  true_time: string;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** A correction for a verifier: in receipts `first` to `last`, times later than `time` (ms) count as `time`. */
export interface TimeCorrection {
  first: number;
  last: number;
  time: number;
}

/** The signed text, byte for byte. */
export function clockText({ service, paper, seqs, true_time, kid }: ClockStatement): string {
  const of = paper === null ? '' : `paper ${paper}\n`;
  const range = seqs === null ? 'none' : `${seqs.first}-${seqs.last}`;
  const text = `${CLOCK_HEADER}\nservice ${service}\n${of}seq ${range}\ntrue_time ${true_time}\nkid ${kid}\n`;
  if (parseClock(text) === null) throw new TypeError(`a correction cannot say ${JSON.stringify(text)}`);
  return text;
}

// At most 15 digits, because longer numbers lose precision.
const CLOCK_PATTERN =
  /^clock\/v1\nservice (desk|records)\n(?:paper ([a-z0-9][a-z0-9-]*)\n)?seq (?:none|([1-9]\d{0,14})-([1-9]\d{0,14}))\ntrue_time (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\nkid (\S+)\n$/;

/** Parses a correction's signed text; null unless it has exactly the form of `clockText`. */
export function parseClock(text: string): ClockStatement | null {
  const match = CLOCK_PATTERN.exec(text);
  if (match === null) return null;
  const [, service, paper = null, first, last, true_time = '', kid = ''] = [...match];
  const seqs = first === undefined ? null : { first: Number(first), last: Number(last) };
  if (!isIsoTime(true_time) || (seqs !== null && seqs.first > seqs.last)) return null;
  if (service === 'records' ? paper !== null : paper === null && seqs !== null) return null;
  return { service: service as ClockStatement['service'], paper, seqs, true_time, kid };
}

/** What a note says, which is not verified; null when it is no correction. */
export function clockIn(note: string): ClockStatement | null {
  const parsed = parseNote(note);
  return parsed === null ? null : parseClock(parsed.text);
}

/** The corrections in statements that are about receipts. */
export function correctionsIn(statements: readonly ClockStatement[]): TimeCorrection[] {
  return statements.flatMap(({ seqs, true_time }) => (seqs === null ? [] : [{ ...seqs, time: Date.parse(true_time) }]));
}

/** Those of some corrections that cover one of these receipts. */
export function clockNotesFor(notes: readonly string[], seqs: readonly number[]): string[] {
  return notes.filter((note) => {
    const range = clockIn(note)?.seqs ?? null;
    return range !== null && seqs.some((seq) => seq >= range.first && seq <= range.last);
  });
}

/** The time that counts for a receipt, in ms, by what it says and by its number. */
export function trueTime(at: number, seq: number, corrections: readonly TimeCorrection[]): number {
  let time = at;
  for (const one of corrections) if (seq >= one.first && seq <= one.last) time = Math.min(time, one.time);
  return time;
}

/** As `trueTime`, in ISO 8601. */
export function trueIso(iso: string, seq: number, corrections: readonly TimeCorrection[]): string {
  return corrections.length === 0 ? iso : isoTime(trueTime(Date.parse(iso), seq, corrections));
}
