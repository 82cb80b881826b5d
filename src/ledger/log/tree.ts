import { merkleRoot, nodeHash } from '../merkle.ts';
import { HASH_LENGTH } from './hash-lines.ts';
import type { CompleteSubtree, Subtree } from './subtrees.ts';
import { completeSubtrees, consistencySubtrees, inclusionSubtrees } from './subtrees.ts';
import type { TileReader } from './tile.ts';
import { hashAt, TILE_WIDTH, tileOf, tilePath } from './tile.ts';

/**
 * A tree read from its tiles. What is asked of it reads O(log n) tiles and hashes at most 255 nodes of each. Tiles
 * are read once: make a new one for each head.
 */
export interface LogTree {
  size: number;
  /** The root; of no leaves, the SHA-256 of nothing. */
  root(): Uint8Array;
  /** The inclusion proof of a leaf, lowest first. Throws a RangeError when there is no such leaf. */
  inclusionProof(index: number): Uint8Array[];
  /** The consistency proof from a smaller tree, or from one as large. Throws a RangeError when it would be larger. */
  consistencyProof(old: number): Uint8Array[];
}

/** A complete tile spans a subtree of this height. */
const TILE_HEIGHT = 8;

export function logTree(size: number, read: TileReader): LogTree {
  const tiles = new Map<string, Uint8Array>();

  function tileBytes(level: number, index: number): Uint8Array {
    const tile = tileOf(level, index, size);
    const path = tilePath(tile);
    let bytes = tiles.get(path);
    if (bytes === undefined) {
      bytes = read(tile);
      if (bytes.length < tile.width * HASH_LENGTH) {
        throw new Error(`${path} has ${bytes.length} bytes; ${tile.width} hashes have ${tile.width * HASH_LENGTH}`);
      }
      tiles.set(path, bytes);
    }
    return bytes;
  }

  function completeHash({ height, index }: CompleteSubtree): Uint8Array {
    const [level, above] = [Math.floor(height / TILE_HEIGHT), height % TILE_HEIGHT];
    const start = index * 2 ** above;
    const bytes = tileBytes(level, Math.floor(start / TILE_WIDTH));
    return merkleRoot(Array.from({ length: 2 ** above }, (_, at) => hashAt(bytes, (start % TILE_WIDTH) + at)));
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
