import { hash } from 'node:crypto';
import { sameBytes } from './bytes.ts';
import { leafInput, nodeInput, pathSteps } from './merkle-path.ts';

/** The Merkle tree of RFC 6962, section 2.1, over SHA-256. */

/** SHA-256(0x00 ‖ data), with texts in UTF-8. */
export function leafHash(data: string | Uint8Array): Uint8Array {
  return digest(leafInput(data));
}

/** SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return digest(nodeInput(left, right));
}

/** The root over leaf hashes; for an empty list, the SHA-256 of the empty string. */
export function merkleRoot(leaves: Uint8Array[]): Uint8Array {
  let level = leaves;
  while (level.length > 1) level = levelAbove(level);
  return level[0] ?? digest(new Uint8Array());
}

/** The siblings of a leaf up to the root, lowest first, for all leaves of a tree: inner nodes are hashed once. */
export function inclusionPaths(leaves: Uint8Array[]): (index: number) => Uint8Array[] {
  const levels: Uint8Array[][] = [];
  for (let level = leaves; level.length > 1; level = levelAbove(level)) levels.push(level);
  return (index) => {
    if (!Number.isSafeInteger(index) || index < 0 || index >= leaves.length) {
      throw new RangeError(`there is no leaf ${index} among ${leaves.length}`);
    }
    return levels.flatMap((level, height) => {
      const at = Math.floor(index / 2 ** height);
      return level[at % 2 === 0 ? at + 1 : at - 1] ?? [];
    });
  };
}

/** The root computed from a leaf hash and its path; null when the path does not fit the leaf's index. */
export function rootFromPath(leaf: Uint8Array, index: number, size: number, path: Uint8Array[]): Uint8Array | null {
  const steps = pathSteps(index, size, path);
  if (steps === null) return null;
  return steps.reduce(
    (reached, { sibling, side }) => (side === 'left' ? nodeHash(sibling, reached) : nodeHash(reached, sibling)),
    leaf,
  );
}

/** Whether the tree with this root has the leaf at this index. */
export function isIncluded(
  leaf: Uint8Array,
  index: number,
  size: number,
  path: Uint8Array[],
  root: Uint8Array,
): boolean {
  const reached = rootFromPath(leaf, index, size, path);
  return reached !== null && sameBytes(reached, root);
}

/** Joins neighbors; a node without one moves up unchanged, which gives RFC 6962's splits at powers of two. */
function levelAbove(level: Uint8Array[]): Uint8Array[] {
  return level.flatMap((left, at) => {
    if (at % 2 === 1) return [];
    const right = level[at + 1];
    return [right === undefined ? left : nodeHash(left, right)];
  });
}

function digest(data: string | Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha256', data, 'buffer'));
}
