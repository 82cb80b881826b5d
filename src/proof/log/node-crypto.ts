import { hash } from 'node:crypto';
import { verifyNode } from '../ed25519.ts';
import { keyHash } from '../keyring.ts';
import { mldsa44 } from './ml-dsa-44.ts';
import { type Policy, parsePolicy } from './policy.ts';
import { type LogCrypto, requireKeyHash } from './signatures.ts';

/** Node's cryptography for verifying logs. */
export const nodeCrypto: LogCrypto = {
  sha256: (data) => new Uint8Array(hash('sha256', data, 'buffer')),
  ed25519: verifyNode,
  mldsa44,
};

/** Parses a policy, and checks each key against its claimed key hash. Throws a LogFault. */
export function readPolicy(text: string): Policy {
  const policy = parsePolicy(text);
  for (const { key } of [...policy.logs, ...policy.witnesses]) {
    requireKeyHash(key, keyHash(key.name, key.publicKey, key.type));
  }
  return policy;
}
