import { joined } from '../bytes.ts';
import { merkleRoot } from '../merkle.ts';
import { HASH_LENGTH } from './fields.ts';
import { LogFault } from './log-fault.ts';
import { type HashTile, hashAt, hashesAt, TILE_WIDTH, type TileReader, tileOf, tilePath } from './tile.ts';
import { logTree } from './tree.ts';

/** A tile and its hashes. */
interface WrittenTile {
  tile: HashTile;
  bytes: Uint8Array;
}

/**
 * Appends leaf hashes to a tree of `old` leaves. Reads one tile per level, and hashes the nodes that the batch
 * completes. Returns the tiles that are new or wider than before, lowest level first, and a reader of the new tree.
 * Nothing is written yet, because the head is signed first; running it again after a crash gives the same tiles.
 */
export function appendLeaves(old: number, leafHashes: Uint8Array[], read: TileReader) {
  const size = old + leafHashes.length;
  const tiles: WrittenTile[] = [];
  let added = leafHashes;
  for (let level = 0; added.length > 0; level++) {
    const before = hashesAt(level, old);
    const first = Math.floor(before / TILE_WIDTH);
    const kept = before % TILE_WIDTH;
    const partial = kept === 0 ? new Uint8Array() : read(tileOf(level, first, old));
    const hashes = [...Array.from({ length: kept }, (_, at) => hashAt(partial, at)), ...added];
    const completed: Uint8Array[] = [];
    for (let at = 0; at < hashes.length; at += TILE_WIDTH) {
      const within = hashes.slice(at, at + TILE_WIDTH);
      tiles.push({ tile: { level, index: first + at / TILE_WIDTH, width: within.length }, bytes: joined(...within) });
      if (within.length === TILE_WIDTH) completed.push(merkleRoot(within));
    }
    added = completed;
  }
  const written = new Map(tiles.map(({ tile, bytes }) => [tilePath(tile), bytes]));
  return { size, tiles, read: (tile: HashTile) => written.get(tilePath(tile)) ?? read(tile) };
}

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
      const message = `level ${level} of a tree of ${size} leaves has ${given ?? 0} bytes at its edge, not ${wanted}`;
      throw new LogFault(message);
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
