/**
 * The functions of node:crypto that `src/proof` uses, made with noble, because the bundle also runs in browsers.
 * WebCrypto would make every hash asynchronous.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { toBase64url, toHex } from '../../../src/proof/bytes.ts';

/** SHA-256 of bytes, or of a text in UTF-8: node:crypto's `hash`, which `src/proof` calls for nothing else. */
export function hash(_sha256: 'sha256', data: string | Uint8Array, encoding: 'hex' | 'base64url' | 'buffer') {
  const digest = sha256(typeof data === 'string' ? new TextEncoder().encode(data) : data);
  if (encoding === 'buffer') return digest;
  return encoding === 'hex' ? toHex(digest) : toBase64url(digest);
}

/** Needed only to sign observations, which the bundle cannot do. */
export const createHash = undefined;
