import { createHash } from 'node:crypto';
import { toBase64url } from '../ledger/bytes.ts';
import { disclosureText } from './disclosure.ts';

/** The length of a salt, in bytes: 128 bits. */
const SALT_LENGTH = 16;
/** The length of the secret from which an observation's salts are derived, in bytes. */
export const SEED_LENGTH = 32;

/**
 * The disclosures of all fields in leaf order: by name, in UTF-16 code units. The salts are consecutive parts of the
 * output of SHAKE256 over the seed, so an observation stores 32 random bytes instead of one salt per field. A disclosed
 * salt reveals nothing about the others. Throws when the seed does not have `SEED_LENGTH` bytes.
 */
export function disclosuresOf(fields: object, seed: Uint8Array): string[] {
  if (seed.length !== SEED_LENGTH) throw new TypeError(`a seed must have ${SEED_LENGTH} bytes, not ${seed.length}`);
  const entries = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  const salts = createHash('shake256', { outputLength: entries.length * SALT_LENGTH })
    .update(seed)
    .digest();
  return entries.map(([name, value], index) => {
    const salt = toBase64url(salts.subarray(index * SALT_LENGTH, (index + 1) * SALT_LENGTH));
    return disclosureText({ salt, name, value });
  });
}
