import * as ed from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import type { Verify } from '../../../src/proof/note.ts';
import { isPrimeOrder } from '../../../src/proof/prime-order.ts';

ed.hashes.sha512 = sha512;

/** Strict verification (RFC 8032, not ZIP-215), like `verifyNoble` of `src/proof`, which hashes with node:crypto. */
export const verifyEd25519: Verify = (signature, message, publicKey) => {
  if (!isPrimeOrder(publicKey) || !isPrimeOrder(signature.subarray(0, 32))) return false;
  try {
    return ed.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
};

/** The name that `src/proof` imports: the bundle resolves its `ed25519.ts` to this file. */
export { verifyEd25519 as verifyNode };
