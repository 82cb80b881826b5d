import type { HashTile } from '../../ledger/log/tile.ts';
import { tilePath } from '../../ledger/log/tile.ts';
import type { LogTree } from '../../ledger/log/tree.ts';
import { logTree } from '../../ledger/log/tree.ts';
import type { LogSource } from './log-source.ts';
import { hashesOf } from './served-tiles.ts';

/** Number of cached tiles, of 8 kB at most. */
const KEPT_MAX = 512;

/** A tree of a given size as a log serves its tiles. Nothing is verified but what the caller computes from it. */
export class ServedTree {
  readonly #source: LogSource;
  readonly #size: number;
  readonly #tiles = new Map<string, Uint8Array>();

  constructor(source: LogSource, size: number) {
    this.#source = source;
    this.#size = size;
  }

  /** Computes something of the tree, after fetching the tiles that it takes. */
  async ask<T>(compute: (tree: LogTree) => T): Promise<T> {
    for (;;) {
      let missing: HashTile | null = null;
      const tree = logTree(this.#size, (tile) => {
        const bytes = this.#tiles.get(tilePath(tile));
        if (bytes !== undefined) return bytes;
        missing = tile;
        throw new MissingTile();
      });
      try {
        return compute(tree);
      } catch (error) {
        if (!(error instanceof MissingTile) || missing === null) throw error;
        await this.#fetch(missing);
      }
    }
  }

  async #fetch(tile: HashTile): Promise<void> {
    if (this.#tiles.size >= KEPT_MAX) this.#tiles.clear();
    this.#tiles.set(tilePath(tile), await hashesOf(this.#source, tile));
  }
}

class MissingTile extends Error {}
