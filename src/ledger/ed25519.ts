import { createHash, createPrivateKey, createPublicKey, sign as nodeSign, verify as nodeVerify } from 'node:crypto';
import * as ed from '@noble/ed25519';
import type { Verify } from './note.ts';
import { isPrimeOrder } from './prime-order.ts';
import type { Signer } from './signing.ts';

// noble's synchronous functions need a SHA-512 implementation; Node provides one.
ed.hashes.sha512 = (message) => new Uint8Array(createHash('sha512').update(message).digest());

/** The public key of a 32-byte seed. */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return ed.getPublicKey(seed);
}

/**
 * A signer from a 32-byte seed (RFC 8032, section 5.1.6), using node:crypto: about ten times as fast as noble, which
 * gives the same bytes.
 */
export function signerFrom(name: string, seed: Uint8Array): Signer {
  const publicKey = publicKeyOf(seed);
  const [d, x] = [seed, publicKey].map((bytes) => Buffer.from(bytes).toString('base64url'));
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  return { name, publicKey, sign: (message) => new Uint8Array(nodeSign(null, message, key)) };
}

/** Strict verification with noble (RFC 8032, not ZIP-215). */
export const verifyNoble: Verify = (signature, message, publicKey) => {
  if (!isPrimeOrder(publicKey) || !isPrimeOrder(signature.subarray(0, 32))) return false;
  try {
    return ed.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
};

/** Node's key objects by the base64 of their raw bytes: an audit meets few keys and many signatures. */
const nodeKeys = new Map<string, ReturnType<typeof createPublicKey> | null>();

/** Strict verification with node:crypto: about twelve times as fast, for bulk audits. */
export const verifyNode: Verify = (signature, message, publicKey) => {
  const x = Buffer.from(publicKey).toString('base64url');
  let key = nodeKeys.get(x);
  if (key === undefined) {
    key = isPrimeOrder(publicKey) ? createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }) : null;
    nodeKeys.set(x, key);
  }
  return key !== null && nodeVerify(null, message, key, signature);
};
