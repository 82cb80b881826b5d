import { appendLeaves, type WrittenTile } from './append.ts';
import { HASH_LENGTH } from './hash-lines.ts';
import { LogFault } from './log-fault.ts';
import { hashesAt, TILE_WIDTH, type TileReader, tilePath } from './tile.ts';
import { logTree } from './tree.ts';

/**
 * The state required to continue appending to a tree: the partial tile of each level, a few kilobytes for any size. A
 * reader of a whole log stores nothing else, and resumes from this state later.
 */
export interface TreeEdge {
  size: number;
  /** The bytes of the last tile of each level, lowest level first; empty when that tile is full. */
  levels: Uint8Array[];
}

export const EMPTY_EDGE: TreeEdge = { size: 0, levels: [] };

/** Appends leaf hashes. `tiles` are the new or wider ones, as a log must serve them. */
export function growEdge(edge: TreeEdge, leafHashes: Uint8Array[]): { edge: TreeEdge; tiles: WrittenTile[] } {
  const { size, tiles } = appendLeaves(edge.size, leafHashes, edgeReader(edge));
  const levels = [...edge.levels];
  // The last tile of each level comes last.
  for (const { tile, bytes } of tiles) levels[tile.level] = tile.width === TILE_WIDTH ? new Uint8Array() : bytes;
  return { edge: { size, levels }, tiles };
}

/** The root of the tree. */
export function edgeRoot(edge: TreeEdge): Uint8Array {
  return logTree(edge.size, edgeReader(edge)).root();
}

/** Throws a LogFault unless the number and lengths of the levels match a tree of this size. */
export function checkEdge({ size, levels }: TreeEdge): void {
  for (let level = 0; level < levels.length || hashesAt(level, size) > 0; level++) {
    const [given, wanted] = [levels[level]?.length, (hashesAt(level, size) % TILE_WIDTH) * HASH_LENGTH];
    if (given !== wanted || hashesAt(level, size) === 0) {
      throw new LogFault(
        `level ${level} of a tree of ${size} leaves has ${given ?? 0} bytes at its edge, not ${wanted}`,
      );
    }
  }
}

function edgeReader({ size, levels }: TreeEdge): TileReader {
  return (tile) => {
    const bytes = levels[tile.level];
    const last = Math.floor(hashesAt(tile.level, size) / TILE_WIDTH);
    if (bytes === undefined || tile.index !== last) throw new Error(`${tilePath(tile)} is not at the edge`);
    return bytes;
  };
}
