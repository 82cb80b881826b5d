import { parseNote } from './note.ts';
import { isIsoTime, isoTime } from './time.ts';

/**
 * Corrections of a clock that ran ahead (protocol 6): signed notes, each a line of the ledger and a leaf of the log.
 * What is in its range was signed at its true time at the latest; where it says a later time, that time is wrong.
 */

/** The first line of every correction. */
export const CLOCK_HEADER = 'clock/v1';

/** What corrections count, each with the name of the line that has the numbers. */
const LINES = { receipts: 'seq', facts: 'fact_seq' } as const;
export type Numbered = keyof typeof LINES;

/** What a correction says. */
export interface ClockStatement {
  service: 'desk' | 'records';
  /** Null for the domain records, and for a correction of the desk that covers keys alone. */
  paper: string | null;
  /** What `seqs` counts: receipts of pieces, or observations; or the versions of a paper's facts. */
  of: Numbered;
  /** The first and the last whose times are wrong if they are later; null when none is. */
  seqs: { first: number; last: number } | null;
  /** ISO 8601, UTC, milliseconds. */
  true_time: string;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** A correction for a verifier: in numbers `first` to `last`, times later than `time` (ms) count as `time`. */
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

/** What a note says, which is not verified; null when it is no correction. */
export function clockIn(note: string): ClockStatement | null {
  const parsed = parseNote(note);
  return parsed === null ? null : parseClock(parsed.text);
}

/** The corrections in statements that are about receipts, or about the versions of facts. */
export function correctionsIn(statements: readonly ClockStatement[], counted: Numbered = 'receipts'): TimeCorrection[] {
  return statements.flatMap(({ of, seqs, true_time }) =>
    seqs === null || of !== counted ? [] : [{ ...seqs, time: Date.parse(true_time) }],
  );
}

/** Those of some corrections that cover one of these receipts, or of these versions of facts. */
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

/** The time that counts for a receipt or a version of a fact, in ms, by what it says and by its number. */
export function trueTime(at: number, seq: number, corrections: readonly TimeCorrection[]): number {
  let time = at;
  for (const one of corrections) if (seq >= one.first && seq <= one.last) time = Math.min(time, one.time);
  return time;
}

/** As `trueTime`, in ISO 8601. */
export function trueIso(iso: string, seq: number, corrections: readonly TimeCorrection[]): string {
  return corrections.length === 0 ? iso : isoTime(trueTime(Date.parse(iso), seq, corrections));
}
