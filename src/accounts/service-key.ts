import { timingSafeEqual } from 'node:crypto';
import { isKeyText, keyHash, keyTimes, newKeyText } from '../access-key.ts';
import { Fault } from '../fault.ts';

/**
 * What a key of the domain records opens: `account` reads and is metered,
 * `service` reads and is not, `scanner` works the queue alone, `operator` opens
 * every door but an account's own.
 */
export const SERVICE_LEVELS = ['account', 'service', 'scanner', 'operator'] as const;
export type ServiceLevel = (typeof SERVICE_LEVELS)[number];

/** A key of the domain records, as it is listed. The key itself is shown once and not kept. Times in ms. */
export interface ServiceKey {
  /** Its public id: a lower-case ULID. */
  id: string;
  /** The account that it is metered on; null for every other level. */
  account: string | null;
  level: ServiceLevel;
  name: string;
  made_at: number;
  /** The last use that was noted; noting lags a little behind. */
  used_at: number | null;
  revoked_at: number | null;
}

export interface ServiceKeyTable {
  insert(key: ServiceKey, hash: string): void;
  /** The key that has this hash, revoked or not. */
  byHash(hash: string): { key: ServiceKey; hash: string } | null;
  /** The keys of an account, or with null those of no account, oldest first. */
  list(account: string | null): ServiceKey[];
  /** False when there is no such key in force. With an account, only a key of that account. */
  revoke(id: string, at: number, account?: string): boolean;
  /** Notes when keys were last used. */
  used(uses: Iterable<[id: string, at: number]>): void;
}

/** What every key of the domain records begins with (wire.md, section 5). */
const PREFIX = 'drs_';

/** What making keys takes. */
export interface ServiceKeyMaker {
  keys: ServiceKeyTable;
  now(): number;
  newId(): string;
  /** n secure bytes. */
  random(n: number): Uint8Array;
}

/** Makes a key and returns it, this one time. */
export function makeServiceKey(
  { keys, now, newId, random }: ServiceKeyMaker,
  { account, level, name }: Pick<ServiceKey, 'account' | 'level' | 'name'>,
): { key: string; made: ServiceKey } {
  const key = newKeyText(PREFIX, random);
  const made = { id: newId(), account, level, name, made_at: now(), used_at: null, revoked_at: null };
  keys.insert(made, keyHash(key));
  return { key, made };
}

/** A key as its owner reads it: times in ISO 8601. */
export function serviceKeyRow({ account: _account, ...key }: ServiceKey) {
  return { ...key, ...keyTimes(key) };
}

/**
 * The key in force that a text is. Throws `key_invalid` for a text that is no
 * key, for a stranger and for a key that was revoked.
 */
export function serviceKeyOf(keys: ServiceKeyTable, text: string): ServiceKey {
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
  return found.key;
}
