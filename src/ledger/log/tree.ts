import { present } from '../../narrow.ts';
import { merkleRoot, nodeHash } from '../merkle.ts';
import { HASH_LENGTH } from './hash-lines.ts';
import type { CompleteSubtree, Subtree } from './subtrees.ts';
import { completeSubtrees, consistencySubtrees, inclusionSubtrees } from './subtrees.ts';
import type { HashTile, TileReader } from './tile.ts';
import { hashAt, TILE_WIDTH, tileOf, tilePath } from './tile.ts';

/**
 * A tree read from its tiles. Each method reads O(log n) tiles and hashes at most 255 nodes of each. A tile is read
 * and hashed once, so many proofs of neighboring leaves cost little: create a new tree for each head. The tree may be
 * smaller than the one of the tiles, if the reader supplies the wider tile instead of a narrower one.
 */
export interface LogTree {
  size: number;
  /** The root; for an empty tree, the SHA-256 of the empty string. */
  root(): Uint8Array;
  /** The inclusion proof of a leaf, lowest first. Throws a RangeError when there is no such leaf. */
  inclusionProof(index: number): Uint8Array[];
  /** The consistency proof from a smaller or equal tree. Throws a RangeError for a larger one. */
  consistencyProof(old: number): Uint8Array[];
}

/**
 * The nodes of a tile by their height within it. The tile may be wider than asked for: the nodes that are complete in a
 * narrower one are the same.
 */
export type TileNodes = (tile: HashTile) => Uint8Array[][];

/** Maximum number of tiles whose nodes are kept, so that a walk over a large tree stays small. */
const TILES_KEPT = 128;

/** Hashes tiles, and keeps those that were used last, so that the trees of several heads can share them. */
export function tileNodes(read: TileReader): TileNodes {
  const kept = new Map<string, Uint8Array[][]>();
  return (tile) => {
    const path = tilePath({ ...tile, width: TILE_WIDTH });
    const found = kept.get(path);
    kept.delete(path);
    const isWide = (found?.[0]?.length ?? 0) >= tile.width;
    const nodes = found !== undefined && isWide ? found : nodesOver(hashesIn(read(tile), tile));
    kept.set(path, nodes);
    for (const oldest of kept.keys()) {
      if (kept.size <= TILES_KEPT) break;
      kept.delete(oldest);
    }
    return nodes;
  };
}

function hashesIn(bytes: Uint8Array, tile: HashTile): Uint8Array[] {
  if (bytes.length < tile.width * HASH_LENGTH) {
    throw new Error(
      `${tilePath(tile)} has ${bytes.length} bytes; ${tile.width} hashes have ${tile.width * HASH_LENGTH}`,
    );
  }
  return Array.from({ length: Math.floor(bytes.length / HASH_LENGTH) }, (_, at) => hashAt(bytes, at));
}

/** Height of the subtree that a complete tile spans. */
const TILE_HEIGHT = 8;

export function logTree(size: number, read: TileReader, nodes = tileNodes(read)): LogTree {
  function completeHash({ height, index }: CompleteSubtree): Uint8Array {
    const [level, above] = [Math.floor(height / TILE_HEIGHT), height % TILE_HEIGHT];
    const perTile = TILE_WIDTH / 2 ** above;
    const node = nodes(tileOf(level, Math.floor(index / perTile), size))[above]?.[index % perTile];
    if (node === undefined) throw new Error(`a tree of ${size} leaves has no node ${index} of height ${height}`);
    return node;
  }

  function subtreeHash(subtree: Subtree): Uint8Array {
    return completeSubtrees(subtree)
      .map(completeHash)
      .reduceRight((right, left) => nodeHash(left, right));
  }

  return {
    size,
    root: () => (size === 0 ? merkleRoot([]) : subtreeHash({ start: 0, end: size })),
    inclusionProof: (index) => inclusionSubtrees(index, size).map(subtreeHash),
    consistencyProof: (old) => consistencySubtrees(old, size).map(subtreeHash),
  };
}

/** The complete nodes above some hashes, level by level. A node without a neighbor has no parent. */
function nodesOver(hashes: Uint8Array[]): Uint8Array[][] {
  const levels = [hashes];
  for (let below = hashes; below.length > 1; below = present(levels.at(-1))) {
    const pairs = Math.floor(below.length / 2);
    levels.push(Array.from({ length: pairs }, (_, at) => nodeHash(present(below[2 * at]), present(below[2 * at + 1]))));
  }
  return levels;
}
