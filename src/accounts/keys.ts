import { Fault } from '../fault.ts';
import { keyExpiry } from '../key-life.ts';
import type { ServiceKey, ServiceKeyMaker } from './service-key.ts';
import { makeServiceKey } from './service-key.ts';

/** The most valid keys per account, and the longest name of a key, in characters. */
export const KEYS_MAX = 20;
export const KEY_NAME_MAX = 60;

/** A name from a form, normalized. Throws `invalid_request` naming the field. */
export function nameFrom(text: string, field: string, most: number): string {
  const name = text.normalize('NFC').trim();
  const length = [...name].length;
  if (length >= 1 && length <= most && !/[\p{Cc}\u2028\u2029]/u.test(name) && name.isWellFormed()) return name;
  throw new Fault(
    'invalid_request',
    `${field} has ${length} characters; give one line of 1 to ${most}, so that you know it again`,
    { field },
  );
}

/**
 * Creates a key of an account and returns it; the key cannot be read again. `expires` is its expiry, or '' for none.
 * Throws `invalid_request`, and `conflict` when there are too many.
 */
export function makeAccountKey(
  maker: ServiceKeyMaker & { transact<T>(work: () => T): T },
  account: string,
  { name: text, expires = '', field = 'expires_at' }: { name: string; expires?: string; field?: string },
): { key: string; made: ServiceKey } {
  const name = nameFrom(text, 'name', KEY_NAME_MAX);
  const expires_at = expires === '' ? null : keyExpiry(expires, field, maker.now());
  return maker.transact(() => {
    const now = maker.now();
    const inForce = maker.keys
      .list(account)
      .filter((key) => key.revoked_at === null && !maker.keys.hasExpired(key, now));
    if (inForce.length >= KEYS_MAX) {
      throw new Fault(
        'conflict',
        `the account has ${KEYS_MAX} keys, which is the most; revoke one that you no longer use`,
      );
    }
    return makeServiceKey(maker, { account, level: 'account', name, expires_at });
  });
}
