import { merkleRoot, nodeHash } from '../merkle.ts';
import { HASH_LENGTH } from './fields.ts';
import { type HashTile, hashAt, TILE_WIDTH, type TileReader, tileOf, tilePath } from './tile.ts';

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

/** The nodes of a tile by height. A wider tile will do: the nodes that a narrower one completes are the same. */
type TileNodes = (tile: HashTile) => Uint8Array[][];

/** Maximum number of tiles whose nodes are kept, so that a walk over a large tree stays small. */
const TILES_KEPT = 128;

/** Hashes tiles, and caches the most recently used ones, so that the trees of several heads share them. */
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
  let below = hashes;
  while (below.length > 1) {
    const above: Uint8Array[] = [];
    for (const [at, right] of below.entries()) {
      const left = below[at - 1];
      if (at % 2 === 1 && left !== undefined) above.push(nodeHash(left, right));
    }
    levels.push(above);
    below = above;
  }
  return levels;
}

/** The subtrees of a log's tree that make up a head and its proofs (RFC 6962, section 2.1). */

/** The leaves from `start` up to, but not including, `end`: a subtree of RFC 6962's splits, or the whole tree. */
interface Subtree {
  start: number;
  end: number;
}

/** A complete subtree of 2^height leaves, the index-th of its height. */
interface CompleteSubtree {
  height: number;
  index: number;
}

/** The largest power of two less than n. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** The subtrees whose hashes are PATH(index, D[size]), from the leaf's sibling upward. */
export function inclusionSubtrees(index: number, size: number): Subtree[] {
  requireIndex(index < size, index, size);
  const path: Subtree[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + split(end - start);
    if (index < middle) {
      path.unshift({ start: middle, end });
      end = middle;
    } else {
      path.unshift({ start, end: middle });
      start = middle;
    }
  }
  return path;
}

/** The subtrees whose hashes are PROOF(old, D[size]); empty for an empty or equal old tree, which needs no proof. */
export function consistencySubtrees(old: number, size: number): Subtree[] {
  requireIndex(old <= size, old, size);
  if (old === 0) return [];
  const proof: Subtree[] = [];
  let [start, end] = [0, size];
  // SUBPROOF(old, D[start:end], b): b is true until a subtree on the left is split off.
  while (old !== end) {
    const middle = start + split(end - start);
    if (old <= middle) {
      proof.unshift({ start: middle, end });
      end = middle;
    } else {
      proof.unshift({ start, end: middle });
      start = middle;
    }
  }
  return start === 0 ? proof : [{ start, end }, ...proof];
}

/** The complete subtrees that make up a subtree, leftmost and largest first. */
function completeSubtrees({ start, end }: Subtree): CompleteSubtree[] {
  const complete: CompleteSubtree[] = [];
  for (let at = start; at < end; ) {
    let [height, leaves] = [0, 1];
    while (at + leaves * 2 <= end && at % (leaves * 2) === 0) {
      leaves *= 2;
      height++;
    }
    complete.push({ height, index: at / leaves });
    at += leaves;
  }
  return complete;
}

function requireIndex(isThere: boolean, index: number, size: number): void {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || !isThere) {
    throw new RangeError(`${index} is not a position in a tree of ${size} leaves`);
  }
}
