/**
 * The subtrees of a log's tree that make up a head and its proofs (RFC 6962, section 2.1). This module does not hash.
 */

/** The leaves from `start` up to, but not including, `end`: a subtree of RFC 6962's splits, or the whole tree. */
export interface Subtree {
  start: number;
  end: number;
}

/** A complete subtree of 2^height leaves, the index-th of its height. */
export interface CompleteSubtree {
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
  needPlace(index < size, index, size);
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
  needPlace(old <= size, old, size);
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
export function completeSubtrees({ start, end }: Subtree): CompleteSubtree[] {
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

function needPlace(isThere: boolean, place: number, size: number): void {
  if (!Number.isSafeInteger(place) || !Number.isSafeInteger(size) || place < 0 || !isThere) {
    throw new RangeError(`${place} is not a position in a tree of ${size} leaves`);
  }
}
