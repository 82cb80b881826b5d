import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { entryBundle } from '../ledger/log/entry-bundle.ts';
import type { LogService } from '../ledger/log/leaf.ts';
import type { HashTile, Tile, TileReader } from '../ledger/log/tile.ts';
import { TILE_WIDTH, tilePath, tilesBetween } from '../ledger/log/tile.ts';
import { Tree } from './tree.ts';

/** The published files of a log (C2SP tlog-tiles): a folder that any server of static files can serve. */

const CHECKPOINT = 'checkpoint';
/** Files that are compared without a pause, in which the process answers requests. */
const BATCH = 16;
const BATCH_PAUSE = 1;

/** Where the files' bytes come from. */
export interface LogSource {
  /** The entries from `start` up to, not including, `end`. */
  entries(start: number, end: number): string[];
  tiles: TileReader;
}

export function logFolder(logDir: string, log: LogService): string {
  return join(logDir, log);
}

/** The published checkpoint; null when there is none, or none that can be read. */
export function publishedCheckpoint(folder: string): string | null {
  return textIn(folder, CHECKPOINT);
}

/** Writes the published files of a log. Throws `unavailable` naming the file when the disk refuses. */
export class LogTree {
  readonly #tree: Tree;
  readonly #source: LogSource;

  /** `assertClaim` throws when this process may not write any more. */
  constructor(folder: string, source: LogSource, assertClaim: () => void) {
    // Next to the folder, because the folder is served.
    const aside = join(dirname(folder), `.${basename(folder)}.${process.pid}`);
    this.#tree = new Tree(folder, { aside, sync: true, assertClaim });
    this.#source = source;
  }

  close(): void {
    this.#tree.close();
  }

  /** Writes a file that is not part of the tree, unless it is there already. */
  async writeText(name: string, text: string): Promise<void> {
    if (textIn(this.#tree.folder, name) !== text) await this.#write(name, Buffer.from(text));
  }

  /**
   * Publishes a tree of `size` leaves: first its tiles and bundles that a tree of `old` leaves had not, then the
   * checkpoint. Partial tiles go once readers of the new checkpoint need them no more. With `old` 0, every file is
   * compared with the source, so that a damaged tree becomes whole.
   */
  async publish(old: number, size: number, checkpoint: string): Promise<void> {
    let compared = 0;
    for (const tile of tilesBetween(old, size)) {
      const path = tilePath(tile);
      const bytes = this.#bytesOf(tile);
      if (!this.#holds(path, bytes)) await this.#write(path, bytes);
      compared++;
      if (compared % BATCH === 0) await pause(BATCH_PAUSE);
    }
    await this.#tree.syncFolders();
    await this.writeText(CHECKPOINT, checkpoint);
    await this.#tree.syncFolders();
    for (const tile of tilesBetween(old, size)) {
      if (tile.width === TILE_WIDTH)
        rmSync(join(this.#tree.folder, `${tilePath(tile)}.p`), { recursive: true, force: true });
    }
  }

  #bytesOf(tile: Tile): Uint8Array {
    if (tile.level !== 'entries') return this.#source.tiles(tile as HashTile);
    const start = tile.index * TILE_WIDTH;
    return entryBundle(this.#source.entries(start, start + tile.width).map((entry) => Buffer.from(entry)));
  }

  #holds(path: string, bytes: Uint8Array): boolean {
    try {
      return readFileSync(join(this.#tree.folder, path)).equals(bytes);
    } catch {
      return false;
    }
  }

  #write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#tree.write(path, bytes, existsSync(join(this.#tree.folder, path)));
  }
}

function textIn(folder: string, name: string): string | null {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return null;
  }
}
