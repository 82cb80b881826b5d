import { createHash } from 'node:crypto';
import { toBase64url } from '../ledger/bytes.ts';
import { disclosureText } from './disclosure.ts';

/** Of each salt, in bytes: 128 bits. */
const SALT_LENGTH = 16;
/** Of the secret that an observation's salts are made of, in bytes. */
export const SEED_LENGTH = 32;

/**
 * The disclosures of all fields in leaf order, which is that of their names by
 * UTF-16 code units. The salts, one after the other, are the output of SHAKE256
 * over the seed: a new random seed for each observation keeps 32 bytes instead of a
 * salt a field, and a salt that was shown tells nothing of the others. Throws when
 * the seed has another length.
 */
export function disclosuresOf(fields: object, seed: Uint8Array): string[] {
  if (seed.length !== SEED_LENGTH) throw new TypeError(`a seed has ${SEED_LENGTH} bytes`);
  const entries = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  const salts = createHash('shake256', { outputLength: entries.length * SALT_LENGTH })
    .update(seed)
    .digest();
  return entries.map(([name, value], index) => {
    const salt = toBase64url(salts.subarray(index * SALT_LENGTH, (index + 1) * SALT_LENGTH));
    return disclosureText({ salt, name, value });
  });
}
