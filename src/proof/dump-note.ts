import { parseNote } from './note.ts';
import { HASH, linesParser, NUMBER, PREVIOUS, TIME, WORD } from './signed-lines.ts';
import { isIsoTime } from './time.ts';

/**
 * The note of a public dump (protocol 5.11), signed with the key of the records and logged as a leaf of their log. It
 * states the hashes of a day's files.
 */

/** The first line of every such note. */
export const DUMP_HEADER = 'dump/v1';

/** The content of a dump's note. Hashes are `sha256:<hex>` of the whole file. */
export interface DumpStatement {
  /** The UTC day, `YYYY-MM-DD`. */
  day: string;
  /** Numbers the dumps of a day from 1. A later one replaces the earlier ones. */
  generation: number;
  /** The number of observations in each file. */
  rows: number;
  parquet: string;
  ndjson: string;
  /** `sha256:<hex>` of the signed text of the generation before; null for the first. */
  prev: string | null;
  /** ISO 8601, UTC, milliseconds. */
  signed_at: string;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** The signed text, byte for byte. Throws for a value that the format cannot hold. */
export function dumpText({ day, generation, rows, parquet, ndjson, prev, signed_at, kid }: DumpStatement): string {
  const text = `${DUMP_HEADER}\nday ${day}\ngeneration ${generation}\nrows ${rows}\nparquet ${parquet}\nndjson ${ndjson}\nprev ${prev ?? 'none'}\nsigned_at ${signed_at}\nkid ${kid}\n`;
  if (parseDump(text) === null) throw new TypeError(`a dump cannot say ${JSON.stringify(text)}`);
  return text;
}

const linesIn = linesParser(DUMP_HEADER, {
  day: '\\d{4}-\\d\\d-\\d\\d',
  generation: NUMBER,
  rows: `0|${NUMBER}`,
  parquet: HASH,
  ndjson: HASH,
  prev: PREVIOUS,
  signed_at: TIME,
  kid: WORD,
});

/** Parses the signed text of a dump's note; null for any other text. */
export function parseDump(text: string): DumpStatement | null {
  const lines = linesIn(text);
  if (lines === null || !isIsoTime(`${lines.day}T00:00:00.000Z`)) return null;
  const { generation, rows, prev } = lines;
  const said = { ...lines, generation: Number(generation), rows: Number(rows), prev: prev === 'none' ? null : prev };
  return (said.prev === null) === (said.generation === 1) ? said : null;
}

/** Parses a dump's note without verifying it; null for any other note. */
export function dumpIn(note: string): DumpStatement | null {
  return parseDump(parseNote(note)?.text ?? '');
}
