import { randomBytes, timingSafeEqual } from 'node:crypto';
import { isoTime } from '../../proof/time.ts';
import { isKeyText, newKeyText, secretHash } from '../../shared/access-key.ts';
import { Fault } from '../../shared/fault.ts';
import { type KeyDays, type KeyLife, keyExpiry, keyLifeRow, NEVER_USED } from '../../shared/key-life.ts';
import { newId } from '../../shared/new-id.ts';

/**
 * Access levels. `account` reads and is metered, `service` reads unmetered, `scanner` may only work on the queue, and
 * `operator` may do everything that does not belong to an account.
 */
export const SERVICE_LEVELS = ['account', 'service', 'scanner', 'operator'] as const;
export type ServiceLevel = (typeof SERVICE_LEVELS)[number];

/** A service key as it is listed. The key's text is shown once and only its hash is stored. Times in ms. */
export interface ServiceKey extends KeyLife {
  id: string;
  /** The account that is charged; null for every other level. */
  account: string | null;
  level: ServiceLevel;
  name: string;
}

export interface ServiceKeyTable {
  insert(key: ServiceKey, hash: string): void;
  byHash(hash: string): { key: ServiceKey; hash: string } | null;
  /** The keys of an account, or with null those without an account, oldest first. */
  list(account: string | null): (ServiceKey & KeyDays)[];
  byId(id: string): ServiceKey | null;
  daysOf(id: string): string[];
  /**
   * Whether a key has expired. Within a process, an expired key never becomes valid again, even if the clock is set
   * back.
   */
  hasExpired(key: ServiceKey, now: number): boolean;
  /** Revokes a key. False when there is no such valid key. With an account, only revokes that account's keys. */
  revoke(id: string, at: number, by: string, account?: string): boolean;
  used(uses: Iterable<[id: string, at: number]>): void;
}

/** The prefix of every key of the domain records (protocol 9.1). */
const PREFIX = 'drs_';

interface ServiceKeyMaker {
  keys: ServiceKeyTable;
  now(): number;
  /** The creator: `cli`, `session:<id>` or `key:<id>`. */
  by: string;
}

/** Creates a key. Only this call returns the key itself. */
export function makeServiceKey(
  { keys, now, by }: ServiceKeyMaker,
  wanted: Pick<ServiceKey, 'account' | 'level' | 'name'> & Partial<Pick<ServiceKey, 'expires_at'>>,
): { key: string; made: ServiceKey } {
  const key = newKeyText(PREFIX, randomBytes);
  const made = {
    ...{ id: newId(), expires_at: null, ...wanted, made_at: now(), made_by: by },
    ...{ used_at: null, revoked_at: null, revoked_by: null },
  };
  keys.insert(made, secretHash(key));
  return { key, made };
}

/** A key as its owner sees it, with its log. `isExpired` comes from its table. */
export function serviceKeyRow(key: ServiceKey & Partial<KeyDays>, isExpired: boolean) {
  const { id, level, name, days, first_day = null, last_day = null } = key;
  const uses = days === undefined ? NEVER_USED : { days, first_day, last_day };
  return { id, level, name, ...keyLifeRow(key, uses, isExpired) };
}

/** The valid key with this text at a time (ms). Throws `key_invalid`, `key_expired`. */
export function serviceKeyOf(keys: ServiceKeyTable, text: string, now: number): ServiceKey {
  if (!isKeyText(PREFIX, text)) {
    const message =
      'this is not a key: a key is drs_ and 43 letters and digits, and its checksum does not match; copy it again, complete';
    throw new Fault('key_invalid', message);
  }
  const hash = secretHash(text);
  const found = keys.byHash(hash);
  if (found === null || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) {
    throw new Fault('key_invalid', 'this key is unknown; make one on your account’s page');
  }
  if (found.key.revoked_at !== null) {
    throw new Fault('key_invalid', 'this key was revoked; make another on your account’s page');
  }
  if (keys.hasExpired(found.key, now)) {
    const end = isoTime(found.key.expires_at ?? now);
    throw new Fault('key_expired', `this key expired at ${end}; make another on your account’s page`);
  }
  return found.key;
}

/** The most valid keys per account, and the longest name of a key, in characters. */
export const KEYS_MAX = 20;
export const KEY_NAME_MAX = 60;

/** Validates and normalizes a name from a form. Throws `invalid_request` naming the field. */
export function nameFrom(text: string, field: string, most: number): string {
  const name = text.normalize('NFC').trim();
  const length = [...name].length;
  if (length >= 1 && length <= most && !/[\p{Cc}\u2028\u2029]/u.test(name) && name.isWellFormed()) return name;
  const message = `${field} has ${length} characters; give one line of 1 to ${most}, so that you know it again`;
  throw new Fault('invalid_request', message, { field });
}

/** Creates a key, which only this call returns. `expires` is '' for none. Throws `invalid_request`, `conflict`. */
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
      const message = `the account has ${KEYS_MAX} keys, which is the maximum; revoke one that you no longer use`;
      throw new Fault('conflict', message);
    }
    return makeServiceKey(maker, { account, level: 'account', name, expires_at });
  });
}
