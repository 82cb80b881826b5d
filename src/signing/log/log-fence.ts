import { setTimeout as pause } from 'node:timers/promises';
import { sameBytes } from '../../proof/bytes.ts';
import { vkeyText } from '../../proof/key-text.ts';
import { EMPTY_EDGE, edgeRoot, growEdge } from '../../proof/log/append.ts';
import { type Checkpoint, parseCheckpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { TILE_WIDTH } from '../../proof/log/tile.ts';
import { SECOND } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import type { LogTables } from '../../shared/transparency/log-tables.ts';
import { hasRoot } from '../../shared/transparency/log-tree.ts';
import { logFolder } from './log-files.ts';
import { LOG_ORIGINS, type LogContext, type LogKey, newLogOrigin, readLogKey } from './log-key.ts';
import { ownCheckpoint, ownPolicy } from './log-publication.ts';

/**
 * The fence around a log whose database is an old copy, or has another history than the published one. Signing would
 * fork the log permanently, so the process only serves.
 */

/** How long a start waits for the witnesses, in ms. */
export const WITNESSES_WAIT = 2 * SECOND;
/** Leaves read per batch. */
const BATCH = 16 * TILE_WIDTH;

/** Throws `unavailable`, with the reason, when nothing may be signed for a service. */
export function assertNotFenced(tables: Pick<LogTables, 'fence'>, log: LogService): void {
  const line = tables.fence(log);
  if (line !== null) throw new Fault('unavailable', `nothing is signed: ${line}`);
}

/**
 * Puts up the fence if this machine has evidence for one; never takes it down. Call it before signing. Throws
 * `unavailable` when the key file contains another key.
 */
export function raiseFence(context: LogContext, log: LogService): void {
  const key = readLogKey(context, log);
  const line = archiveLine(context, log) ?? (key === null ? null : fenceLine(context, log, key));
  if (line !== null) setFence(context, log, line);
}

/**
 * Puts up the fence or takes it down when a server starts. `contradiction` asks the witnesses for evidence; a start
 * does not wait for late answers, which take effect when they arrive.
 */
export async function checkFence(
  context: LogContext,
  log: LogService,
  contradiction: (key: LogKey) => Promise<string | null>,
): Promise<void> {
  const { log: tables } = context.store.database;
  const key = readLogKey(context, log);
  const present = tables.fence(log);
  let line = archiveLine(context, log);
  if (line !== null) {
    // An older copy must not sign, whatever its log says.
  } else if (key === null) {
    // Without a key there is no history to contradict, unless the log is still the one that was fenced.
    line = tables.newestHead(log, newLogOrigin(context.settings, log)) === null ? null : present;
  } else {
    // While the witnesses do not answer, a fence that one of them caused stays.
    const silent = present?.startsWith('witness ') ? present : null;
    const late = () => pause(WITNESSES_WAIT, silent, { ref: false });
    line = fenceLine(context, log, key) ?? (await Promise.race([contradiction(key), late()]));
  }
  if (tables.fence(log) !== line) setFence(context, log, line);
}

function setFence({ store }: LogContext, log: LogService, line: string | null): void {
  store.database.transact(() => store.database.log.setFence(log, line));
}

/** Why the archive proves that this copy must not sign, in one line; null when it does not. */
function archiveLine({ store: { records } }: LogContext, log: LogService): string | null {
  const [archived, observed] = [records.archive.seen(), records.nextSeq() - 1];
  if (log !== 'records' || archived <= observed) return null;
  return `the archive has ${count(archived)} observations, and this database ${count(observed)}; restore the newest copy of the database`;
}

/**
 * Why this copy must not sign, in one line; null when it may. Compares its leaves with its heads, with its published
 * checkpoint, and with what witnesses have seen.
 */
function fenceLine({ settings, store }: LogContext, log: LogService, key: LogKey): string | null {
  const tables = store.database.log;
  const size = tables.size(log);
  const cure = cureOf(log);
  const newest = tables.newestHead(log, key.origin);
  const head = newest === null ? null : parseCheckpoint(newest.checkpoint);
  if (head !== null && !isOfTheseLeaves(tables, log, head, size, head.size)) return rewrittenLine(log, head);
  const here = `the log ${key.origin} has ${leaves(size)} here`;
  const published = ownCheckpoint(logFolder(settings.logDir, log), key);
  if (published !== null && published.size > size) {
    return `${here}, and its published checkpoint has ${count(published.size)}; ${cure}`;
  }
  if (published !== null && !isOfTheseLeaves(tables, log, published, size, head?.size ?? 0)) {
    return `${here}, and the first ${count(published.size)} are not those of its published checkpoint; ${cure}`;
  }
  for (const witness of ownPolicy(settings)?.witnesses ?? []) {
    const { seen_size } = tables.witness(log, key.origin, vkeyText(witness.key));
    if (seen_size > size) return `${here}, and witness ${witness.name} has seen ${count(seen_size)}; ${cure}`;
  }
  return null;
}

/** Whether a log in this database has exactly the leaves of a head. */
export function holdsHead(tables: LogTables, log: LogService, head: Pick<Checkpoint, 'size' | 'root'>): boolean {
  return isOfTheseLeaves(tables, log, head, tables.size(log), tables.lastHead(log)?.size ?? 0);
}

/** Whether a checkpoint matches the log's first leaves. `signed` is the number of leaves whose nodes are stored. */
function isOfTheseLeaves(
  tables: LogTables,
  log: LogService,
  checkpoint: Pick<Checkpoint, 'size' | 'root'>,
  size: number,
  signed: number,
): boolean {
  if (checkpoint.size > size) return false;
  if (checkpoint.size <= signed) return hasRoot(tables.tiles(log), checkpoint);
  // The nodes are not stored: a power failure may have lost the head but kept its leaves and files.
  let edge = EMPTY_EDGE;
  for (let start = 0; start < checkpoint.size; start += BATCH) {
    edge = growEdge(edge, tables.leafHashes(log, start, Math.min(checkpoint.size, start + BATCH))).edge;
  }
  return sameBytes(edgeRoot(edge), checkpoint.root);
}

/** The reason for a fence: a log's leaves are not those that were signed. */
export function rewrittenLine(log: LogService, { origin, size }: Checkpoint): string {
  return `the leaves of the log ${origin} are not the ${count(size)} over which its newest head was signed; ${cureOf(log)}`;
}

/** How to remove the cause of a fence. */
export function cureOf(log: LogService): string {
  return `restore the newest copy of the database, or move the log's key file away and set ${LOG_ORIGINS[log]} to a new name`;
}

const count = (size: number): string => size.toLocaleString('en');
const leaves = (size: number): string => `${count(size)} ${size === 1 ? 'leaf' : 'leaves'}`;
