import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { toBase64url } from '../bytes.ts';
import { verifyNode } from '../ed25519.ts';
import { keyHash } from '../keyring.ts';
import { type Policy, parsePolicy } from './policy.ts';
import { type LogCrypto, ML_DSA_44_PUBLIC_KEY_LENGTH, requireKeyHash } from './signatures.ts';

/** Node's cryptography for verifying logs. ML-DSA-44 needs OpenSSL 3.5. */
export const nodeCrypto: LogCrypto = {
  sha256: (data) => new Uint8Array(hash('sha256', data, 'buffer')),
  ed25519: verifyNode,
  mldsa44: hasMldsa44() ? verifyMldsa44 : null,
};

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

/** Parses a policy, and checks each key against its claimed key hash. Throws a LogFault. */
export function readPolicy(text: string): Policy {
  const policy = parsePolicy(text);
  for (const { key } of [...policy.logs, ...policy.witnesses]) {
    requireKeyHash(key, keyHash(key.name, key.publicKey, key.type));
  }
  return policy;
}
