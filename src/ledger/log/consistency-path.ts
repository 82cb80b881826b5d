import type { PathStep } from '../merkle-path.ts';

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
