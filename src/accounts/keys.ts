import { Fault } from '../fault.ts';
import type { ServiceKey, ServiceKeyMaker } from './service-key.ts';
import { makeServiceKey } from './service-key.ts';

/** How many keys in force an account may have, and how long a key's name may be, in characters. */
export const KEYS_MAX = 20;
export const KEY_NAME_MAX = 60;

/** A name as somebody gave it. Throws `invalid_request` naming the field. */
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

/** Makes a key of an account and returns it, this one time. Throws `invalid_request`, `conflict` when there are too many. */
export function makeAccountKey(
  maker: ServiceKeyMaker & { transact<T>(work: () => T): T },
  account: string,
  text: string,
): { key: string; made: ServiceKey } {
  const name = nameFrom(text, 'name', KEY_NAME_MAX);
  return maker.transact(() => {
    const inForce = maker.keys.list(account).filter(({ revoked_at }) => revoked_at === null);
    if (inForce.length >= KEYS_MAX) {
      throw new Fault(
        'conflict',
        `the account has ${KEYS_MAX} keys, which is the most; revoke one that you no longer use`,
      );
    }
    return makeServiceKey(maker, { account, level: 'account', name });
  });
}
