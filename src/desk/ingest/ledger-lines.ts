import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { Fault } from '../../shared/fault.ts';
import type { LedgerEntry } from '../ledger-entry.ts';
import { isLogLine, type LogLine } from './log-lines.ts';

/**
 * The first line of an export (protocol 11.1). Exports of version 1 are from before there was a transparency log, those
 * of version 2 from before there were pages of a paper's own and placements of fronts, and before pieces had writers
 * and tags, those of version 3 from before pieces had lists of authors.
 */
export const HEADER = { type: 'ledger', version: 4 } as const;
export const VERSIONS: readonly number[] = [1, 2, 3, HEADER.version];

/** A line with the members that exports of earlier versions do not have. */
export function currentLine(line: LedgerEntry): LedgerEntry {
  return line.type === 'generation' ? { ...line, piece: { ...ADDED_LATER, ...line.piece } } : line;
}

const ADDED_LATER = { authors: [], written_by: null, tags: [] };

type HeaderLine = { type: 'ledger'; version: number };

/** A part of a media file, before the first record that names it. Parts keep lines short enough to read. */
export interface MediaLine {
  type: 'media-part';
  digest: string;
  /** From 0. */
  part: number;
  of: number;
  base64: string;
}

/** The last line: the number of entries, and the hash of all preceding lines, in hex. */
export interface EndLine {
  type: 'end';
  entries: number;
  sha256: string;
}

export type LedgerLine = LedgerEntry | LogLine | MediaLine | EndLine | HeaderLine;

const ENTRIES = ['key', 'retirement', 'record', 'generation', 'airing', 'withdrawal'];
const TYPES = new Set(['ledger', 'media-part', 'end', ...ENTRIES]);

/** Parses one line. `where` is its file and line number. Throws `invalid_request`. */
export function parseLedgerLine(text: string, where: string): LedgerLine {
  try {
    const value = JSON.parse(text) as LedgerLine;
    if (TYPES.has(value.type) || isLogLine(value)) return value;
  } catch {
    // Reported below, with the line's number.
  }
  throw damaged(where, 'the line is not a ledger entry');
}

export function damaged(where: string, why: string): Fault {
  const message = `${where}: ${why}; nothing was imported: export the ledger again, or use another copy`;
  return new Fault('invalid_request', message);
}

/** The lines of a file. Reads synchronously, so that one transaction can contain the whole import. */
export function* linesOf(file: string): Iterable<string> {
  const input = openSync(file, 'r');
  const chunk = Buffer.alloc(1 << 20);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for (let size = readSync(input, chunk); size > 0; size = readSync(input, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, size))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(input);
  }
}
