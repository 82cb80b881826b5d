import { sameBytes } from '../bytes.ts';
import { merkleRoot, nodeHash } from '../merkle.ts';
import type { Checkpoint } from './checkpoint.ts';
import { consistencyWalk } from './consistency-path.ts';

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
