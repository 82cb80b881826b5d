import { existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { sha256 } from '../../../proof/basis.ts';
import { fromBase64, sameBytes, toBase64 } from '../../../proof/bytes.ts';
import { checkEdge, EMPTY_EDGE, edgeRoot, type TreeEdge } from '../../../proof/log/append.ts';
import { parseCheckpoint } from '../../../proof/log/checkpoint.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import { Fault, messageOf } from '../../../shared/fault.ts';
import { putFile } from '../../../shared/files/durable-file.ts';
import { readText } from '../verify-sources.ts';
import { LeafIndex } from './leaf-index.ts';
import { Finding, LoggedKey, LogMemory } from './log-memory.ts';

const FORMAT = 'broadsheet-monitor/v1';
/** The largest state file, in bytes. Eight million names and fifty thousand pages take less. */
const STATE_MAX = 256_000_000;

const GIVE = 'the file that the last run wrote, or a name for a new one';
const CURE = 'restore it from a copy, or remove it to start over, which forgets what the log was';

/** A story's page that a monitor watches. Times in ms. */
const WatchedPage = z.strictObject({
  /** The address of the page, with a slash at its end. */
  address: z.string(),
  /** The paper and the piece that its receipt names; null until a receipt was read. */
  paper: z.string().nullable(),
  piece: z.string().nullable(),
  /** The size of the log before the run that last found the page: a later withdrawal has at least this index. */
  seen_size: z.number(),
  /** When the page was last read; 0 before the first time. */
  checked_at: z.number(),
  /** Since when its receipt is not in the log; null when it is. */
  unlogged_since: z.number().nullable(),
});
export type WatchedPage = z.infer<typeof WatchedPage>;

const StateBody = z.strictObject({
  format: z.literal(FORMAT),
  origin: z.string(),
  size: z.int().nonnegative(),
  root: z.string(),
  edge: z.array(z.string()),
  checkpoint: z.string(),
  seen_at: z.iso.datetime(),
  keys: z.array(LoggedKey),
  names: z.string(),
  findings: z.array(Finding),
  pages: z.array(WatchedPage),
});

/** The state that one run of a monitor leaves to the next. */
export interface MonitorState {
  /** The log's origin; null before the first run. */
  origin: string | null;
  edge: TreeEdge;
  /** The checkpoint with its signatures: together with another one of the same size, it proves a fork. */
  checkpoint: string;
  /** When the checkpoint was read, in ISO 8601; null before the first run. */
  seen_at: string | null;
  memory: LogMemory;
  /** The findings about leaves, which stay true, because leaves never change. */
  findings: Finding[];
  pages: WatchedPage[];
  /** The file's text when it was read; null when there was none. */
  text: string | null;
}

/** Reads a state file; without one, the state before the first run. Throws `invalid_request` for a damaged one. */
export async function readState(file: string): Promise<MonitorState> {
  if (!existsSync(file)) {
    if (!existsSync(dirname(file))) {
      throw new Fault('not_found', `${dirname(file)} does not exist; make this folder for the state file`);
    }
    const memory = new LogMemory(new LeafIndex(), []);
    const nothing = { findings: [], pages: [], text: null };
    return { origin: null, edge: EMPTY_EDGE, checkpoint: '', seen_at: null, memory, ...nothing };
  }
  const text = await readText(file, GIVE, STATE_MAX);
  try {
    return parseState(text);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const why =
      error instanceof z.ZodError
        ? `${error.issues[0]?.path.join('.')}: ${error.issues[0]?.message}`
        : messageOf(error);
    throw new Fault('invalid_request', `${file} is not a monitor's state, or was damaged (${why}); ${CURE}`);
  }
}

function parseState(text: string): MonitorState {
  const { digest, ...rest } = z.looseObject({ digest: z.string() }).parse(JSON.parse(text));
  const body = StateBody.parse(rest);
  if (sha256(JSON.stringify(body)) !== digest) throw new LogFault('its digest is not that of its content');
  const { origin, size, root, checkpoint, seen_at, keys, names, findings, pages } = body;
  const edge = { size, levels: body.edge.map((level) => bytesIn(level)) };
  checkEdge(edge);
  const head = parseCheckpoint(checkpoint);
  if (!sameBytes(edgeRoot(edge), bytesIn(root)) || !sameBytes(head.root, bytesIn(root)) || head.size !== size) {
    throw new LogFault('its tree is not that of its checkpoint');
  }
  const memory = new LogMemory(LeafIndex.from(Buffer.from(names, 'base64')), keys);
  return { origin, edge, checkpoint, seen_at, memory, findings, pages, text };
}

function bytesIn(base64: string): Uint8Array {
  const bytes = fromBase64(base64);
  if (bytes === null) throw new LogFault('one of its hashes is not base64');
  return bytes;
}

/**
 * Writes a state file. If another monitor wrote the file since it was read, the larger tree stays; returns the other
 * state when its tree has the same size and another root.
 */
export async function writeState(file: string, state: MonitorState & { origin: string; seen_at: string }) {
  const other = await readState(file);
  if (other.text !== state.text && other.origin === state.origin) {
    if (other.edge.size === state.edge.size && !sameBytes(edgeRoot(other.edge), edgeRoot(state.edge))) return other;
    if (other.edge.size > state.edge.size) return null;
  }
  const text = stateText(state);
  try {
    putFile(file, (aside) => writeFileSync(aside, text, { mode: 0o600 }));
  } catch (error) {
    const cure = 'give a state file in a folder that can be written to';
    throw new Fault('unavailable', `${file} cannot be written (${messageOf(error)}); ${cure}`);
  }
  return null;
}

function stateText({ origin, edge, checkpoint, seen_at, memory, findings, pages }: MonitorState): string {
  const body = StateBody.parse({
    format: FORMAT,
    origin,
    size: edge.size,
    root: toBase64(edgeRoot(edge)),
    edge: edge.levels.map(toBase64),
    checkpoint,
    seen_at,
    keys: memory.keys(),
    names: memory.names.toBytes().toString('base64'),
    findings,
    pages,
  });
  return `${JSON.stringify({ ...body, digest: sha256(JSON.stringify(body)) })}\n`;
}
