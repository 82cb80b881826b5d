import { sameBytes } from '../bytes.ts';
import { merkleRoot, nodeHash } from '../merkle.ts';
import { stepsFrom } from '../merkle-path.ts';
import type { Checkpoint } from './checkpoint.ts';

/** A tree head without its log. */
export type TreeHead = Pick<Checkpoint, 'size' | 'root'>;

/** Whether a proof shows that the larger tree begins with all leaves of the smaller one, in order. */
export function isConsistent(old: TreeHead, head: TreeHead, proof: Uint8Array[]): boolean {
  if (old.size > head.size) return false;
  // The empty tree and an equal tree need no proof, so the proof must be empty.
  if (old.size === 0) return proof.length === 0 && sameBytes(old.root, merkleRoot([]));
  if (old.size === head.size) return proof.length === 0 && sameBytes(old.root, head.root);
  // RFC 9162, section 2.1.4.2
  let node = old.size - 1; // "fn"
  let last = head.size - 1; // "sn"
  while (node % 2 === 1) {
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  // Step 1: a complete tree is itself the first node of the proof. "fn" has then reached zero.
  const [seed, ...path] = node === 0 ? [old.root, ...proof] : proof;
  const steps = stepsFrom(node, last, path);
  if (seed === undefined || steps === null) return false;
  let [smaller, larger] = [seed, seed];
  for (const { sibling, side } of steps) {
    // A sibling on the left belongs to both trees, one on the right only to the larger tree.
    if (side === 'left') smaller = nodeHash(sibling, smaller);
    larger = side === 'left' ? nodeHash(sibling, larger) : nodeHash(larger, sibling);
  }
  return sameBytes(smaller, old.root) && sameBytes(larger, head.root);
}
