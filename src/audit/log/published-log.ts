import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../fault.ts';
import { publishedCheckpoint } from '../../files/log-tree.ts';
import { parseCheckpoint } from '../../ledger/log/checkpoint.ts';
import { entryBundle } from '../../ledger/log/entry-bundle.ts';
import type { LogService } from '../../ledger/log/leaf.ts';
import { type HashTile, TILE_WIDTH, type Tile, tilePath, tilesBetween } from '../../ledger/log/tile.ts';
import type { LogHead, LogTables } from '../../transparency/log-tables.ts';
import { bytesOf } from '../disk.ts';

const CURE = 'start the server, which writes it again';

/** The files of a log on disk, apart from its tree. */
export interface Publication {
  folder: string;
  /** The texts of the files beside the tree, by name. */
  texts: Record<string, string>;
  /** The published checkpoint; null when there is none. */
  checkpoint: string | null;
}

/** Reads what is published of a log. Read it before the database, so that the database knows the checkpoint. */
export function publicationIn(folder: string, texts: Record<string, string>): Publication | null {
  return existsSync(folder) ? { folder, texts, checkpoint: publishedCheckpoint(folder) } : null;
}

/** Where the published files differ from the database, byte for byte. A log that was never published has none. */
export function publicationFaults(
  tables: LogTables,
  log: LogService,
  { folder, texts, checkpoint }: Publication,
): string[] {
  if (checkpoint === null) return [`${join(folder, 'checkpoint')}: the file is missing; ${CURE}`];
  const head = headOf(tables, log, checkpoint);
  if (typeof head === 'string') return [`${join(folder, 'checkpoint')}: ${head}`];
  const faults: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const bytes = bytesOf(join(folder, name));
    if (bytes === null || sameWherever(bytes.toString('utf8')) !== sameWherever(text))
      faults.push(fileFault(join(folder, name), bytes));
  }
  for (const tile of tilesBetween(0, head.size)) {
    const wanted = Buffer.from(tileBytes(tables, log, tile));
    const found = bytesOf(join(folder, tilePath(tile))) ?? wideTile(folder, tile);
    // A full tile has replaced a partial one if the log has grown meanwhile.
    if (!found?.subarray(0, wanted.length).equals(wanted)) faults.push(fileFault(join(folder, tilePath(tile)), found));
  }
  return faults;
}

/** A policy without the address of its log, which changes when the service moves. */
function sameWherever(text: string): string {
  const [first = '', ...rest] = text.split('\n');
  return [first.startsWith('log ') ? first.split(' ', 2).join(' ') : first, ...rest].join('\n');
}

/** The head that a published checkpoint shows; else what is wrong with it. */
function headOf(tables: LogTables, log: LogService, text: string): LogHead | string {
  try {
    const { origin, size } = parseCheckpoint(text);
    for (const head of tables.heads(log)) {
      if (head.origin !== origin || head.size !== size) continue;
      if (text === head.checkpoint || text === head.cosigned) return head;
    }
    return `the database has no such head of ${size} leaves of ${origin}`;
  } catch (error) {
    return messageOf(error);
  }
}

function tileBytes(tables: LogTables, log: LogService, tile: Tile): Uint8Array {
  if (tile.level !== 'entries') return tables.tiles(log)(tile as HashTile);
  const start = tile.index * TILE_WIDTH;
  return entryBundle(tables.entries(log, start, start + tile.width).map((entry) => Buffer.from(entry)));
}

function wideTile(folder: string, tile: Tile): Buffer | null {
  return tile.width === TILE_WIDTH ? null : bytesOf(join(folder, tilePath({ ...tile, width: TILE_WIDTH })));
}

function fileFault(file: string, found: Buffer | null): string {
  return `${file}: the file ${found === null ? 'is missing' : 'was altered'}; ${CURE}`;
}
