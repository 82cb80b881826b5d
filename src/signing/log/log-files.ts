import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openTree } from '../../desk/press/tree.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import {
  entryBundle,
  type HashTile,
  TILE_WIDTH,
  type Tile,
  type TileReader,
  tilePath,
  tilesBetween,
} from '../../proof/log/tile.ts';
import { bytesIn, textIn } from '../../shared/files/plain-file.ts';
import type { LogTables } from '../../shared/transparency/log-tables.ts';

/** The published files of a log (C2SP tlog-tiles): a folder that any server of static files can serve. */

const CHECKPOINT = 'checkpoint';
/** Files that are compared without a pause, in which the process answers requests. */
const BATCH = 16;
const BATCH_PAUSE = 1;

export function logFolder(logDir: string, log: LogService): string {
  return join(logDir, log);
}

/** The published checkpoint; null when there is none, or none that can be read. */
export function publishedCheckpoint(folder: string): string | null {
  return textIn(join(folder, CHECKPOINT));
}

/** What is published of a log. */
interface Publication {
  /** The files that are not part of the tree, by name. */
  texts: Record<string, string>;
  /** The number of leaves whose tiles were written before. With 0 every file is compared: a damaged tree becomes whole. */
  old: number;
  size: number;
  checkpoint: string;
  /** Throws when this process may not write any more. */
  assertHeld(): void;
}

/**
 * Writes the published files of a log: first what a tree of `old` leaves had not, then the checkpoint. Partial tiles go
 * once readers of the new checkpoint need them no more. Throws `unavailable` naming the file when the disk refuses.
 */
export async function writeLogFiles(
  folder: string,
  tables: LogTables,
  log: LogService,
  { texts, old, size, checkpoint, assertHeld }: Publication,
): Promise<void> {
  const tree = openTree(folder, { aside: `${asidesOf(folder)}${process.pid}`, sync: true, assertHeld });
  const writeText = async (name: string, text: string): Promise<void> => {
    if (textIn(join(folder, name)) !== text) await tree.write(name, Buffer.from(text));
  };
  try {
    for (const [name, text] of Object.entries(texts)) await writeText(name, text);
    let compared = 0;
    for (const tile of tilesBetween(old, size)) {
      const path = tilePath(tile);
      const bytes = tileBytes(tables, log, tile);
      if (!bytesIn(join(folder, path))?.equals(bytes)) await tree.write(path, bytes);
      compared++;
      if (compared % BATCH === 0) await pause(BATCH_PAUSE);
    }
    await tree.syncFolders();
    await writeText(CHECKPOINT, checkpoint);
    await tree.syncFolders();
    for (const tile of tilesBetween(old, size)) {
      if (tile.width === TILE_WIDTH) rmSync(join(folder, `${tilePath(tile)}.p`), { recursive: true, force: true });
    }
  } finally {
    tree.close();
  }
}

/** Removes what processes that were killed left behind. Only the one process that may write calls it. */
export function removeLeftovers(folder: string): void {
  const asides = basename(asidesOf(folder));
  for (const name of existsSync(dirname(folder)) ? readdirSync(dirname(folder)) : []) {
    if (!name.startsWith(asides) || name === `${asides}${process.pid}`) continue;
    rmSync(join(dirname(folder), name), { recursive: true, force: true });
  }
}

/** The bytes of a tile, or of a bundle of entries. */
export function tileBytes(tables: LogTables, log: LogService, tile: Tile): Uint8Array {
  if (tile.level !== 'entries') return tables.tiles(log)(tile as HashTile);
  const start = tile.index * TILE_WIDTH;
  return entryBundle(tables.entries(log, start, start + tile.width).map((entry) => Buffer.from(entry)));
}

/** How the paths begin at which files are written before they are renamed: next to the folder, which is served. */
function asidesOf(folder: string): string {
  return join(dirname(folder), `.${basename(folder)}.`);
}

/** Reads published tiles: the one asked for, or a wider one that took its place. */
export function publishedTiles(folder: string): TileReader {
  return (tile) => {
    const full = join(folder, tilePath({ ...tile, width: TILE_WIDTH }));
    if (existsSync(full)) return readFileSync(full);
    const widths = readdirSync(`${full}.p`).map(Number);
    return readFileSync(join(`${full}.p`, String(Math.max(tile.width, ...widths))));
  };
}
