import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { toBase64url } from '../bytes.ts';
import { type LogCrypto, ML_DSA_44_PUBLIC_KEY_LENGTH } from './signatures.ts';

/** Verifies ML-DSA-44 with Node's cryptography; null if its OpenSSL is older than 3.5. */
export const mldsa44: LogCrypto['mldsa44'] = hasMldsa44() ? verifyMldsa44 : null;

function verifyMldsa44(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return verify(null, message, mldsa44Key(publicKey), signature);
  } catch {
    return false;
  }
}

function hasMldsa44(): boolean {
  try {
    mldsa44Key(new Uint8Array(ML_DSA_44_PUBLIC_KEY_LENGTH));
    return true;
  } catch {
    return false;
  }
}

/** Throws when the platform does not support ML-DSA-44, or these bytes are not a valid key. */
function mldsa44Key(publicKey: Uint8Array): KeyObject {
  // RFC 9964 defines these members.
  return createPublicKey({ key: { kty: 'AKP', alg: 'ML-DSA-44', pub: toBase64url(publicKey) }, format: 'jwk' });
}
