import { joined } from './bytes.ts';

/** How to evaluate a Merkle path, without hashing, which may be asynchronous (`LogCrypto`). */

const LEAF = Uint8Array.of(0x00);
const NODE = 0x01;

/** The bytes whose SHA-256 is a leaf hash (RFC 6962, section 2.1): 0x00 ‖ data, with texts in UTF-8. */
export function leafInput(data: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return joined(LEAF, data);
}

/** The bytes whose SHA-256 is a node's hash: 0x01 ‖ left ‖ right. */
export function nodeInput(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(1 + left.length + right.length);
  both[0] = NODE;
  both.set(left, 1);
  both.set(right, 1 + left.length);
  return both;
}

/** One step from a leaf toward the root: the sibling, and whether it is on the left or the right. */
export interface PathStep {
  sibling: Uint8Array;
  side: 'left' | 'right';
}

/** The steps of an inclusion path (RFC 9162, section 2.1.3.2); null for a path that cannot belong to the leaf. */
export function pathSteps(index: number, size: number, path: Uint8Array[]): PathStep[] | null {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  return stepsFrom(index, size - 1, path);
}

/** The steps from node "fn" of a level whose last node is "sn"; null for a path of another length. */
export function stepsFrom(fn: number, sn: number, path: Uint8Array[]): PathStep[] | null {
  const steps: PathStep[] = [];
  let [node, last] = [fn, sn];
  for (const sibling of path) {
    if (last === 0) return null; // step 4 a
    const isRight = node % 2 === 1;
    if (isRight || node === last) {
      steps.push({ sibling, side: 'left' });
      // A node without a right sibling moves up unchanged.
      while (node % 2 === 0 && node !== 0) {
        node = Math.floor(node / 2);
        last = Math.floor(last / 2);
      }
    } else {
      steps.push({ sibling, side: 'right' });
    }
    node = Math.floor(node / 2); // step 4 c
    last = Math.floor(last / 2);
  }
  return last === 0 ? steps : null; // step 5
}
