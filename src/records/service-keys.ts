import type { AppContext } from '../server/context.ts';
import { CLI } from '../shared/command-line.ts';
import { Fault } from '../shared/fault.ts';
import { keyExpiry, keyLog } from '../shared/key-life.ts';
import { newId } from '../shared/new-id.ts';
import { readAddress } from '../shared/outbound/mail-address.ts';
import type { Account } from './accounts/account.ts';
import {
  KEY_NAME_MAX,
  makeAccountKey,
  makeServiceKey,
  nameFrom,
  SERVICE_LEVELS,
  serviceKeyRow,
} from './accounts/service-key.ts';

/** The command-line arguments for a new key. */
interface ServiceKeyWords {
  level: string;
  name: string;
  /** The account that is charged for a key of level `account`. */
  email?: string | undefined;
  expiresAt?: string | undefined;
}

/**
 * Creates a service key. A key of level `account` is charged to the account of `email`, which is created if it does not
 * exist; without `email`, to an account that nobody can sign in to. Throws `invalid_request`, `conflict`.
 */
export function createServiceKey({ store, clock }: AppContext, words: ServiceKeyWords) {
  const level = SERVICE_LEVELS.find((known) => known === words.level);
  if (level === undefined) {
    throw wrong('level', `${JSON.stringify(words.level)}: must be one of ${SERVICE_LEVELS.join(', ')}`);
  }
  if (words.email !== undefined && level !== 'account') {
    throw wrong('email', `a key of the level ${level} belongs to no account; leave it out, or use --level account`);
  }
  const name = nameFrom(words.name, '--name', KEY_NAME_MAX);
  const { transact } = store.database;
  const { serviceKeys: keys } = store.records;
  const maker = { keys, now: clock.now, transact, by: 'cli' };
  const field = '--expires-at';
  return transact(() => {
    if (level !== 'account') {
      const expires_at = words.expiresAt === undefined ? null : keyExpiry(words.expiresAt, field, clock.now());
      return { ...makeServiceKey(maker, { account: null, level, name, expires_at }), email: null };
    }
    const id = newId();
    // RFC 2606, section 2: no mail is ever delivered to .invalid.
    const address = words.email === undefined ? `${id}@account.invalid` : addressFrom(words.email);
    const account = store.records.accounts.ofEmail(address, { id, plan: 'daily', made_at: clock.now() });
    return { ...makeAccountKey(maker, account.id, { name, expires: words.expiresAt, field }), email: account.email };
  });
}

/** Lists the keys of an account, or the keys without an account. Throws `not_found` when the account does not exist. */
export function listServiceKeys({ store, clock }: AppContext, email: string | undefined) {
  const account = email === undefined ? null : requireAccount(store, email).id;
  const { serviceKeys: keys } = store.records;
  return keys.list(account).map((key) => serviceKeyRow(key, keys.hasExpired(key, clock.now())));
}

/** Returns the history of a key of any level. Throws `not_found`. */
export function serviceKeyLog(
  {
    store: {
      records: { serviceKeys: keys },
    },
    clock,
  }: AppContext,
  id: string,
) {
  const key = keys.byId(id);
  if (key === null) throw unknownKey(id, '');
  return keyLog(key, keys.daysOf(id), keys.hasExpired(key, clock.now()));
}

/** Revokes a key of any level. Throws `not_found` unless such a key is in force. */
export function revokeServiceKey({ store, clock }: AppContext, id: string): void {
  if (!store.records.serviceKeys.revoke(id, clock.now(), 'cli')) throw unknownKey(id, ' in force');
}

function unknownKey(id: string, state: string): Fault {
  return new Fault(
    'not_found',
    `the domain records have no key ${JSON.stringify(id)}${state}; \`${CLI} key list --service records\` lists their keys, with --email those of an account`,
  );
}

/** Returns the account with this mail address. Throws `not_found`. */
export function requireAccount(
  { records: { accounts } }: Pick<AppContext['store'], 'records'>,
  email: string,
): Account {
  const account = accounts.byEmail(email.trim().toLowerCase()) ?? accounts.byEmail(addressFrom(email));
  if (account !== null) return account;
  const message = `there is no account with the address ${JSON.stringify(email)}; its owner creates it by signing in`;
  throw new Fault('not_found', message);
}

/** Normalizes a mail address to the lower case that accounts store. Throws `invalid_request`. */
function addressFrom(text: string): string {
  const address = readAddress(text.trim());
  if ('problem' in address) throw wrong('email', `${JSON.stringify(text.slice(0, 80))} ${address.problem}`);
  return address.key;
}

function wrong(option: string, what: string): Fault {
  return new Fault('invalid_request', `--${option}: ${what}`, { field: option });
}
