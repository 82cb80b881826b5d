import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Tree } from '../../desk/press/tree.ts';
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

/** The published files of a log (C2SP tlog-tiles): a folder that any server of static files can serve. */

const CHECKPOINT = 'checkpoint';
/** Files that are compared without a pause, in which the process answers requests. */
const BATCH = 16;
const BATCH_PAUSE = 1;

/** Where the files' bytes come from. */
export interface LogContent {
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
export class LogFiles {
  readonly #tree: Tree;
  readonly #content: LogContent;

  /** `assertClaim` throws when this process may not write any more. */
  constructor(folder: string, content: LogContent, assertClaim: () => void) {
    this.#tree = new Tree(folder, { aside: `${asidesOf(folder)}${process.pid}`, sync: true, assertHeld: assertClaim });
    this.#content = content;
  }

  /** Removes what processes that were killed left behind. Only the one process that may write calls it. */
  removeLeftovers(): void {
    const { folder } = this.#tree;
    const asides = basename(asidesOf(folder));
    for (const name of readdirSync(dirname(folder))) {
      if (!name.startsWith(asides) || name === `${asides}${process.pid}`) continue;
      rmSync(join(dirname(folder), name), { recursive: true, force: true });
    }
  }

  close(): void {
    this.#tree.close();
  }

  /** Writes a file that is not part of the tree, unless it is there already. */
  async writeText(name: string, text: string): Promise<void> {
    if (textIn(this.#tree.folder, name) !== text) await this.#tree.write(name, Buffer.from(text));
  }

  /**
   * Publishes a tree of `size` leaves: first its tiles and bundles that a tree of `old` leaves had not, then the
   * checkpoint. Partial tiles go once readers of the new checkpoint need them no more. With `old` 0, every file is
   * compared with the content, so that a damaged tree becomes whole.
   */
  async publish(old: number, size: number, checkpoint: string): Promise<void> {
    let compared = 0;
    for (const tile of tilesBetween(old, size)) {
      const path = tilePath(tile);
      const bytes = this.#bytesOf(tile);
      if (!this.#holds(path, bytes)) await this.#tree.write(path, bytes);
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
    if (tile.level !== 'entries') return this.#content.tiles(tile as HashTile);
    const start = tile.index * TILE_WIDTH;
    return entryBundle(this.#content.entries(start, start + tile.width).map((entry) => Buffer.from(entry)));
  }

  #holds(path: string, bytes: Uint8Array): boolean {
    try {
      return readFileSync(join(this.#tree.folder, path)).equals(bytes);
    } catch {
      return false;
    }
  }
}

/** How the paths begin at which files are written before they are renamed: next to the folder, which is served. */
function asidesOf(folder: string): string {
  return join(dirname(folder), `.${basename(folder)}.`);
}

function textIn(folder: string, name: string): string | null {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return null;
  }
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
