/**
 * What `src/proof` takes from node:crypto, by noble: the bundle runs in browsers too, and WebCrypto would make every
 * caller wait for each hash.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { toBase64url, toHex } from '../../../src/proof/bytes.ts';

/** SHA-256 of bytes, or of a text in UTF-8: node:crypto's `hash`, which `src/proof` calls for nothing else. */
export function hash(_sha256: 'sha256', data: string | Uint8Array, encoding: 'hex' | 'base64url' | 'buffer') {
  const digest = sha256(typeof data === 'string' ? new TextEncoder().encode(data) : data);
  if (encoding === 'buffer') return digest;
  return encoding === 'hex' ? toHex(digest) : toBase64url(digest);
}

/** Signing an observation needs it, and the bundle leaves that out. */
export const createHash = undefined;
