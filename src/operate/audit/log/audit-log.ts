import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseCheckpoint } from '../../../proof/log/checkpoint.ts';
import type { LogService } from '../../../proof/log/leaf.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import { TILE_WIDTH, tilePath, tilesBetween } from '../../../proof/log/tile.ts';
import type { AppContext } from '../../../server/context.ts';
import { Fault, messageOf } from '../../../shared/fault.ts';
import { pushAll } from '../../../shared/push-all.ts';
import type { Progress } from '../../../shared/terminal/progress.ts';
import type { LogHead, LogTables } from '../../../shared/transparency/log-tables.ts';
import { fileIn, logFolder, publishedCheckpoint, tileBytes } from '../../../signing/log/log-files.ts';
import { type LogKey, readLogKey } from '../../../signing/log/log-key.ts';
import { publishedPolicy } from '../../../signing/log/log-publication.ts';
import { ledgerLeafFaults } from './ledger-leaves.ts';
import { cosignatureFaults, headFaults, storedLeaves } from './stored-log.ts';

/**
 * Audits a log: leaves against what was signed, nodes and heads against leaves, cosignatures, and published files.
 * Appends to `faults`. Returns the number of leaves.
 */
export async function auditLog(
  app: AppContext,
  log: LogService,
  faults: string[],
  progress: Progress['step'],
): Promise<number> {
  const { store, settings } = app;
  const found: string[] = [];
  const folder = logFolder(settings.logDir, log);
  let key: LogKey | null = null;
  let texts: Record<string, string> = {};
  try {
    key = readLogKey(app, log);
    if (key !== null) texts = { vkey: `${key.vkey}\n`, policy: publishedPolicy(settings, log, key) };
  } catch (error) {
    if (!(error instanceof Fault) && !(error instanceof LogFault)) throw error;
    found.push(error.message);
  }
  // A log that was never published has no folder.
  const isPublished = existsSync(folder);
  // Before the database, so that the database knows the checkpoint.
  const checkpoint = publishedCheckpoint(folder);
  const { leaves, cosignatures } = store.database.read(() => {
    const step = (done: number, total: number) => progress(`audit the log of the ${log}`, done, total, '');
    const stored = storedLeaves(store.database.log, log, found, step);
    // The past of an older database is filled in when it is signed for the first time.
    if (store.database.log.isFilled(log)) pushAll(found, ledgerLeafFaults(store, log, stored));
    const cosigned = headFaults(store.database.log, log, key, found);
    if (isPublished) pushAll(found, publicationFaults(store.database.log, log, { folder, texts, checkpoint }));
    return { leaves: stored.kinds.length, cosignatures: cosigned };
  });
  pushAll(found, await cosignatureFaults(cosignatures));
  for (const fault of found) faults.push(`log of the ${log}: ${fault}`);
  return leaves;
}

const CURE = 'start the server, which writes it again';
const OTHER_POLICY = `it names other witnesses than the LOG_POLICY of this command; give the command the LOG_POLICY of the server, or ${CURE}`;

interface Publication {
  folder: string;
  /** What the files other than the tree must say, by name. */
  texts: Record<string, string>;
  /** The published checkpoint; null when there is none. */
  checkpoint: string | null;
}

/** Where the published files differ from the database, byte for byte. */
function publicationFaults(tables: LogTables, log: LogService, { folder, texts, checkpoint }: Publication): string[] {
  if (checkpoint === null) return [`${join(folder, 'checkpoint')}: the file is missing; ${CURE}`];
  const head = headOf(tables, log, checkpoint);
  if (typeof head === 'string') return [`${join(folder, 'checkpoint')}: ${head}`];
  const faults: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const bytes = fileIn(folder, name);
    const found = bytes?.toString('utf8') ?? '';
    if (sameWherever(found) === sameWherever(text)) continue;
    const isOfThisLog = name === 'policy' && logIn(found) === logIn(text);
    faults.push(isOfThisLog ? `${join(folder, name)}: ${OTHER_POLICY}` : fileFault(join(folder, name), bytes));
  }
  for (const tile of tilesBetween(0, head.size)) {
    const wanted = Buffer.from(tileBytes(tables, log, tile));
    // A full tile has replaced a partial one if the log has grown meanwhile.
    const full = tilePath({ ...tile, width: TILE_WIDTH });
    const found = fileIn(folder, tilePath(tile)) ?? fileIn(folder, full);
    if (!found?.subarray(0, wanted.length).equals(wanted)) faults.push(fileFault(join(folder, tilePath(tile)), found));
  }
  return faults;
}

/** Whether a checkpoint is the cosigned text of a head, with nothing but cosignatures that came later. */
function isCosigned(tables: LogTables, log: LogService, { origin, size, cosigned }: LogHead, text: string): boolean {
  if (cosigned === null || !text.startsWith(cosigned)) return false;
  const lines = new Set(tables.cosignatures(log, origin, size).map(({ line }) => line));
  const later = text.slice(cosigned.length).split('\n').slice(0, -1);
  return later.every((line) => lines.has(line));
}

/** A policy without the address of its log, which changes when the service moves. */
function sameWherever(text: string): string {
  const [first = '', ...rest] = text.split('\n');
  return [first.startsWith('log ') ? logIn(first) : first, ...rest].join('\n');
}

/** The log that a policy names on its first line, without its address. */
function logIn(text: string): string {
  return (text.split('\n', 1)[0] ?? '').split(' ', 2).join(' ');
}

/** The head that a published checkpoint shows; else what is wrong with it. */
function headOf(tables: LogTables, log: LogService, text: string): LogHead | string {
  try {
    const { origin, size } = parseCheckpoint(text);
    for (const head of tables.heads(log)) {
      if (head.origin !== origin || head.size !== size) continue;
      if (text === head.checkpoint || isCosigned(tables, log, head, text)) return head;
    }
    return `the database has no such head of ${size} leaves of ${origin}`;
  } catch (error) {
    return messageOf(error);
  }
}

function fileFault(file: string, found: Buffer | null): string {
  return `${file}: the file ${found === null ? 'is missing' : 'was altered'}; ${CURE}`;
}
