import { sameBytes } from '../bytes.ts';
import { merkleRoot, nodeHash } from '../merkle.ts';
import type { PathStep } from '../merkle-path.ts';
import type { Checkpoint } from './checkpoint.ts';

/** A tree head without its log. */
export type TreeHead = Pick<Checkpoint, 'size' | 'root'>;

/** Whether a proof shows that the larger tree begins with all leaves of the smaller one, in order. */
export function isConsistent(old: TreeHead, head: TreeHead, proof: Uint8Array[]): boolean {
  if (old.size > head.size) return false;
  // The empty tree and an equal tree need no proof, so the proof must be empty.
  if (old.size === 0) return proof.length === 0 && sameBytes(old.root, merkleRoot([]));
  if (old.size === head.size) return proof.length === 0 && sameBytes(old.root, head.root);
  const walk = consistencyWalk(old.size, head.size, proof);
  if (walk === null) return false;
  let [smaller, larger] = [walk.seed ?? old.root, walk.seed ?? old.root];
  for (const { sibling, side } of walk.steps) {
    if (side === 'left') smaller = nodeHash(sibling, smaller);
    larger = side === 'left' ? nodeHash(sibling, larger) : nodeHash(larger, sibling);
  }
  return sameBytes(smaller, old.root) && sameBytes(larger, head.root);
}

/** How to evaluate a consistency proof. This module does not hash. */
export interface ConsistencyWalk {
  /** The hash from which both roots are computed; null when it is the smaller tree's root. */
  seed: Uint8Array | null;
  /** A sibling on the left belongs to both trees, one on the right only to the larger tree. */
  steps: PathStep[];
}

/**
 * The steps of a proof from a tree of `old` leaves to one of `size` (RFC 9162, section 2.1.4.2); null when the proof
 * has the wrong length. `old` is at least 1 and less than `size`.
 */
export function consistencyWalk(old: number, size: number, proof: Uint8Array[]): ConsistencyWalk | null {
  if (!Number.isSafeInteger(old) || !Number.isSafeInteger(size) || old < 1 || old >= size) return null;
  let node = old - 1; // "fn"
  let last = size - 1; // "sn"
  while (node % 2 === 1) {
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  // Step 1: a complete tree is itself the first node of the proof. In that case "fn" has reached zero.
  const isComplete = node === 0;
  const seed = isComplete ? null : proof[0];
  if (seed === undefined) return null;
  const steps: PathStep[] = [];
  for (const sibling of isComplete ? proof : proof.slice(1)) {
    if (last === 0) return null;
    if (node % 2 === 1 || node === last) {
      steps.push({ sibling, side: 'left' });
      while (node % 2 === 0 && node !== 0) {
        node = Math.floor(node / 2);
        last = Math.floor(last / 2);
      }
    } else {
      steps.push({ sibling, side: 'right' });
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? { seed, steps } : null;
}
