import { createHmac } from 'node:crypto';
import { toBase64url } from '../ledger/bytes.ts';
import { disclosureText } from './disclosure.ts';

/** Of each salt, in bytes: 128 bits. */
const SALT_LENGTH = 16;
/** Of the secret that an observation's salts are made of, in bytes. */
export const SEED_LENGTH = 32;

/**
 * The disclosures of all fields in leaf order, which is that of their names by
 * UTF-16 code units. Salts are HMAC-SHA-256(seed, name), cut to 128 bits: a new
 * random `seed` for each observation keeps 32 bytes instead of a salt a field, and
 * a salt that was shown tells nothing of the others. Throws when the seed is short.
 */
export function disclosuresOf(fields: object, seed: Uint8Array): string[] {
  if (seed.length !== SEED_LENGTH) throw new TypeError(`a seed has ${SEED_LENGTH} bytes`);
  return Object.entries(fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => disclosureText({ salt: saltOf(seed, name), name, value }));
}

function saltOf(seed: Uint8Array, name: string): string {
  return toBase64url(createHmac('sha256', seed).update(name).digest().subarray(0, SALT_LENGTH));
}
