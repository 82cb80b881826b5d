import * as z from 'zod';
import { LogFault } from '../../proof/log/log-fault.ts';
import { shapeProblems } from '../../shared/shape.ts';
import type { LogTables } from '../../shared/transparency/log-tables.ts';

/** The log in an export, after the ledger: key, leaves, heads with cosignatures. The rest follows from these. */

const LOG = z.literal('desk');

const Line = z.discriminatedUnion('type', [
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

export type LogLine = z.infer<typeof Line>;
export type HeadLine = Extract<LogLine, { type: 'head' }>;
export type CosignatureLine = Extract<LogLine, { type: 'cosignature' }>;

const TYPES = new Set<string>(['log-key', 'leaf', 'head', 'cosignature'] satisfies LogLine['type'][]);

/** Whether a line is one of the log's, whatever its form. */
export function isLogLine(line: { type: string }): line is LogLine {
  return TYPES.has(line.type);
}

/** Checks the form of a line of the log. Throws a LogFault. */
export function readLogLine(line: unknown): LogLine {
  const read = Line.safeParse(line);
  if (read.success) return read.data;
  const [problem] = shapeProblems(read.error, line);
  throw new LogFault(`${problem?.field}: ${problem?.message}`);
}

const BATCH = 1_000;

/** The lines of the desk's log. `vkey` is the verifier key of the log, when this machine signs it. */
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
