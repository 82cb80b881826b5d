import { timingSafeEqual } from 'node:crypto';
import { isKeyText, keyHash, newKeyText } from '../access-key.ts';
import { Fault } from '../fault.ts';
import type { KeyDays, KeyLife } from '../key-life.ts';
import { keyLifeRow, NEVER_USED } from '../key-life.ts';
import { isoTime } from '../time.ts';

/**
 * What a key of the domain records opens: `account` reads and is metered,
 * `service` reads and is not, `scanner` works the queue alone, `operator` opens
 * every door but an account's own.
 */
export const SERVICE_LEVELS = ['account', 'service', 'scanner', 'operator'] as const;
export type ServiceLevel = (typeof SERVICE_LEVELS)[number];

/** A key of the domain records, as it is listed. The key itself is shown once and not stored. Times in ms. */
export interface ServiceKey extends KeyLife {
  /** Its public id: a lower-case ULID. */
  id: string;
  /** The account that it is metered on; null for every other level. */
  account: string | null;
  level: ServiceLevel;
  name: string;
}

export interface ServiceKeyTable {
  insert(key: ServiceKey, hash: string): void;
  /** The key that has this hash, in force or not. */
  byHash(hash: string): { key: ServiceKey; hash: string } | null;
  /** The keys of an account, or with null those of no account, oldest first. */
  list(account: string | null): (ServiceKey & KeyDays)[];
  /** A key, in force or not. */
  byId(id: string): ServiceKey | null;
  /** The UTC days on which a key was used, oldest first. */
  daysOf(id: string): string[];
  /** Whether a key has expired; once it has, it stays so for this process. */
  hasExpired(key: ServiceKey, now: number): boolean;
  /** False when there is no such key in force. With an account, only a key of that account. */
  revoke(id: string, at: number, by: string, account?: string): boolean;
  /** Records when keys were last used, and the days. */
  used(uses: Iterable<[id: string, at: number]>): void;
}

/** The prefix of every key of the domain records (wire.md, section 5). */
const PREFIX = 'drs_';

/** What making keys takes. */
export interface ServiceKeyMaker {
  keys: ServiceKeyTable;
  now(): number;
  newId(): string;
  /** n secure bytes. */
  random(n: number): Uint8Array;
  /** Who makes it: `cli`, or `session:<id>`. */
  by: string;
}

/** Makes a key. The key itself is returned only here. */
export function makeServiceKey(
  { keys, now, newId, random, by }: ServiceKeyMaker,
  {
    account,
    level,
    name,
    expires_at = null,
  }: Pick<ServiceKey, 'account' | 'level' | 'name'> & Partial<Pick<ServiceKey, 'expires_at'>>,
): { key: string; made: ServiceKey } {
  const key = newKeyText(PREFIX, random);
  const made = {
    ...{ id: newId(), account, level, name, made_at: now(), made_by: by, expires_at },
    ...{ used_at: null, revoked_at: null, revoked_by: null },
  };
  keys.insert(made, keyHash(key));
  return { key, made };
}

/** A key as its owner reads it, with its log; `isExpired` as its table knows. */
export function serviceKeyRow(key: ServiceKey & Partial<KeyDays>, isExpired: boolean) {
  const { id, level, name, days, first_day = null, last_day = null } = key;
  const uses = days === undefined ? NEVER_USED : { days, first_day, last_day };
  return { id, level, name, ...keyLifeRow(key, uses, isExpired) };
}

/**
 * The key in force at a time (ms) that a text stands for. Throws `key_invalid` for a malformed, unknown or revoked key,
 * `key_expired` for one that has expired.
 */
export function serviceKeyOf(keys: ServiceKeyTable, text: string, now: number): ServiceKey {
  if (!isKeyText(PREFIX, text)) {
    throw new Fault(
      'key_invalid',
      'X-Service-Key: this is not a key: a key is drs_ and 43 letters and digits, and its checksum tells a slip; copy it again, whole',
    );
  }
  const hash = keyHash(text);
  const found = keys.byHash(hash);
  if (found === null || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) {
    throw new Fault('key_invalid', 'X-Service-Key: nobody has this key; make one on your account’s page');
  }
  if (found.key.revoked_at !== null) {
    throw new Fault('key_invalid', 'X-Service-Key: this key was revoked; make another on your account’s page');
  }
  if (keys.hasExpired(found.key, now)) {
    const end = isoTime(found.key.expires_at ?? now);
    throw new Fault('key_expired', `X-Service-Key: this key ended at ${end}; make another on your account’s page`);
  }
  return found.key;
}
