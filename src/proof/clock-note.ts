import { parseNote } from './note.ts';
import { isIsoTime, isoTime } from './time.ts';

/**
 * Corrections of a clock that ran ahead (protocol 6): signed notes, each also a line of the ledger and a leaf of the
 * log. Everything in a correction's range was signed at `true_time` at the latest; any later time stated there is
 * wrong.
 */

/** The first line of every correction. */
export const CLOCK_HEADER = 'clock/v1';

/** What a correction can number, each with the name of the note's line for the numbers. */
const LINES = { receipts: 'seq', facts: 'fact_seq' } as const;
export type Numbered = keyof typeof LINES;

/** The content of a correction. */
export interface ClockStatement {
  service: 'desk' | 'records';
  /** Null for the domain records, and for a correction of the desk that only covers keys. */
  paper: string | null;
  /** Whether `seqs` are the numbers of receipts (of pieces, or of observations), or of a paper's fact versions. */
  of: Numbered;
  /** The first and last number whose time is wrong if it is later than `true_time`; null for none. */
  seqs: { first: number; last: number } | null;
  /** ISO 8601, UTC, milliseconds. */
  true_time: string;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** A correction for verifiers: for numbers `first` to `last`, times later than `time` (ms) count as `time`. */
export interface TimeCorrection {
  first: number;
  last: number;
  time: number;
}

/** The signed text, byte for byte. */
export function clockText({ service, paper, of, seqs, true_time, kid }: ClockStatement): string {
  const whose = paper === null ? '' : `paper ${paper}\n`;
  const range = seqs === null ? 'none' : `${seqs.first}-${seqs.last}`;
  const text = `${CLOCK_HEADER}\nservice ${service}\n${whose}${LINES[of]} ${range}\ntrue_time ${true_time}\nkid ${kid}\n`;
  if (parseClock(text) === null) throw new TypeError(`a correction cannot say ${JSON.stringify(text)}`);
  return text;
}

// At most 15 digits, because longer numbers lose precision.
const CLOCK_PATTERN =
  /^clock\/v1\nservice (desk|records)\n(?:paper ([a-z0-9][a-z0-9-]*)\n)?(?:seq none|(seq|fact_seq) ([1-9]\d{0,14})-([1-9]\d{0,14}))\ntrue_time (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\nkid (\S+)\n$/;

/** Parses a correction's signed text; null unless it has exactly the form of `clockText`. */
export function parseClock(text: string): ClockStatement | null {
  const match = CLOCK_PATTERN.exec(text);
  if (match === null) return null;
  const [, service, paper = null, line, first, last, true_time = '', kid = ''] = [...match];
  const seqs = first === undefined ? null : { first: Number(first), last: Number(last) };
  if (!isIsoTime(true_time) || (seqs !== null && seqs.first > seqs.last)) return null;
  if (service === 'records' ? paper !== null : paper === null && seqs !== null) return null;
  const of = line === LINES.facts ? 'facts' : 'receipts';
  if (of === 'facts' && paper === null) return null;
  return { service: service as ClockStatement['service'], paper, of, seqs, true_time, kid };
}

/** Parses a correction's note without verifying it; null for any other note. */
export function clockIn(note: string): ClockStatement | null {
  const parsed = parseNote(note);
  return parsed === null ? null : parseClock(parsed.text);
}

/** The corrections that apply to receipts, or to fact versions. */
export function correctionsIn(statements: readonly ClockStatement[], counted: Numbered = 'receipts'): TimeCorrection[] {
  return statements.flatMap(({ of, seqs, true_time }) =>
    seqs === null || of !== counted ? [] : [{ ...seqs, time: Date.parse(true_time) }],
  );
}

/** Those corrections that cover any of these receipts or fact versions. */
export function clockNotesFor(
  notes: readonly string[],
  seqs: readonly number[],
  counted: Numbered = 'receipts',
): string[] {
  return notes.filter((note) => {
    const said = clockIn(note);
    const range = said?.of === counted ? said.seqs : null;
    return range !== null && seqs.some((seq) => seq >= range.first && seq <= range.last);
  });
}

/** The time of a receipt or fact version after corrections, in ms, given its stated time and its number. */
export function trueTime(at: number, seq: number, corrections: readonly TimeCorrection[]): number {
  let time = at;
  for (const one of corrections) if (seq >= one.first && seq <= one.last) time = Math.min(time, one.time);
  return time;
}

/** Like `trueTime`, in ISO 8601. */
export function trueIso(iso: string, seq: number, corrections: readonly TimeCorrection[]): string {
  return corrections.length === 0 ? iso : isoTime(trueTime(Date.parse(iso), seq, corrections));
}
