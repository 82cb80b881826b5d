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
/** How many files are compared before the process pauses to answer requests. */
const BATCH = 16;
const BATCH_PAUSE = 1;

export function logFolder(logDir: string, log: LogService): string {
  return join(logDir, log);
}

/** The published checkpoint; null when there is none or it cannot be read. */
export function publishedCheckpoint(folder: string): string | null {
  return textIn(join(folder, CHECKPOINT));
}

/** What to publish of a log. */
interface Publication {
  /** The contents of files that are not part of the tree, by name. */
  texts: Record<string, string>;
  /**
   * The number of leaves whose tiles were published before. With 0, every file is compared, which repairs damaged
   * files.
   */
  old: number;
  size: number;
  checkpoint: string;
  /** Throws when this process has lost the lease. */
  assertHeld(): void;
}

/**
 * Writes the published files of a log: first the tiles and entries missing from a tree of `old` leaves, then the
 * checkpoint. Partial tiles are removed once no reader of the new checkpoint needs them. Throws `unavailable`, naming
 * the file, on a disk error.
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

/** Removes temporary files of killed processes. Only the process with the lease may call it. */
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

/**
 * The path prefix of temporary files, which are renamed when complete. They are beside the folder, because the folder
 * is served.
 */
function asidesOf(folder: string): string {
  return join(dirname(folder), `.${basename(folder)}.`);
}

/** Reads published tiles: the requested one, or a wider one that replaced it. */
export function publishedTiles(folder: string): TileReader {
  return (tile) => {
    const full = join(folder, tilePath({ ...tile, width: TILE_WIDTH }));
    if (existsSync(full)) return readFileSync(full);
    const widths = readdirSync(`${full}.p`).map(Number);
    return readFileSync(join(`${full}.p`, String(Math.max(tile.width, ...widths))));
  };
}
