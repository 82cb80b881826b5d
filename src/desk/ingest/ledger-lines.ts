import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod';
import { LogFault } from '../../proof/log/log-fault.ts';
import { Fault } from '../../shared/fault.ts';
import { shapeProblems } from '../../shared/shape.ts';
import type { LogTables } from '../../shared/transparency/log-tables.ts';
import type { LedgerEntry } from '../ledger-entry.ts';

/**
 * The first line of an export (protocol 11.1). Exports of version 1 lack the transparency log; those up to version 2
 * lack the papers' own pages, placements of fronts, and the writers and tags of pieces; those up to version 3 lack
 * lists of authors; those up to version 4 lack earlier addresses and provenance.
 */
export const HEADER = { type: 'ledger', version: 5 } as const;
export const VERSIONS: readonly number[] = [1, 2, 3, 4, HEADER.version];

/** Adds the members that lines of earlier versions lack. */
export function currentLine(line: LedgerEntry): LedgerEntry {
  return line.type === 'generation' ? { ...line, piece: { ...ADDED_LATER, ...line.piece } } : line;
}

const ADDED_LATER = { authors: [], written_by: null, provenance: null, tags: [], aliases: [] };

type HeaderLine = { type: 'ledger'; version: number };

/** Part of a media file, before the first record that names it. Parts keep lines short enough to read. */
export interface MediaLine {
  type: 'media-part';
  digest: string;
  /** Counts from 0. */
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
    // The fault is thrown below, with the line number.
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

/** The log's lines in an export, after the ledger: key, leaves, heads with cosignatures. The rest can be derived. */

const LOG = z.literal('desk');

const LogLine = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('log-key'), log: LOG, vkey: z.string() }),
  z.strictObject({ type: z.literal('leaf'), log: LOG, entry: z.string() }),
  z.strictObject({
    type: z.literal('head'),
    log: LOG,
    origin: z.string(),
    size: z.int().min(0),
    signed_at: z.int(),
    checkpoint: z.string(),
    cosigned: z.string().nullable(),
  }),
  z.strictObject({
    type: z.literal('cosignature'),
    log: LOG,
    origin: z.string(),
    size: z.int().min(0),
    vkey: z.string(),
    time: z.int().min(0),
    line: z.string(),
  }),
]);

export type LogLine = z.infer<typeof LogLine>;
export type HeadLine = Extract<LogLine, { type: 'head' }>;
export type CosignatureLine = Extract<LogLine, { type: 'cosignature' }>;

const LOG_LINES = new Set<string>(['log-key', 'leaf', 'head', 'cosignature'] satisfies LogLine['type'][]);

/** Whether a line belongs to the log, even if it is malformed. */
export function isLogLine(line: { type: string }): line is LogLine {
  return LOG_LINES.has(line.type);
}

/** Checks the form of a line of the log. Throws a LogFault. */
export function readLogLine(line: unknown): LogLine {
  const read = LogLine.safeParse(line);
  if (read.success) return read.data;
  const [problem] = shapeProblems(read.error, line);
  throw new LogFault(`${problem?.field}: ${problem?.message}`);
}

const BATCH = 1_000;

/** The lines of the desk's log. `vkey` is the log's verifier key, if this machine signs it. */
export function* logLines(tables: LogTables, vkey: string | null): Iterable<LogLine> {
  const log = 'desk';
  if (vkey !== null) yield { type: 'log-key', log, vkey };
  const size = tables.size(log);
  for (let start = 0; start < size; start += BATCH) {
    for (const entry of tables.entries(log, start, Math.min(size, start + BATCH))) yield { type: 'leaf', log, entry };
  }
  for (const head of tables.heads(log)) {
    const { origin, size, signed_at, checkpoint, cosigned } = head;
    yield { type: 'head', log, origin, size, signed_at, checkpoint, cosigned };
    for (const { vkey, time, line } of tables.cosignatures(log, origin, size))
      yield { type: 'cosignature', log, origin, size, vkey, time, line };
  }
}
