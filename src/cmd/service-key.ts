import { randomBytes } from 'node:crypto';
import type { Account } from '../accounts/account.ts';
import { KEY_NAME_MAX, makeAccountKey, nameFrom } from '../accounts/keys.ts';
import type { ServiceLevel } from '../accounts/service-key.ts';
import { makeServiceKey, SERVICE_LEVELS, serviceKeyRow } from '../accounts/service-key.ts';
import type { AppContext } from '../app/context.ts';
import { newId } from '../app/context.ts';
import { Fault } from '../fault.ts';
import { keyExpiry, keyLog } from '../key-life.ts';
import { readAddress } from '../readers/address.ts';
import { endOf, lifeOf, sayLog } from './key-life.ts';
import { say } from './run.ts';

/** The service whose keys these are, as `--service` names it. */
const SERVICE = 'records';

interface Words {
  service: string;
  level?: string;
  name?: string;
  email?: string;
  expiresAt?: string;
  json?: boolean;
}

/**
 * Makes a key of the domain records. One of the level `account` is metered on
 * the account of `--email`, which is made where there is none; without an
 * address, on an account of its own that nobody can sign in to. Throws
 * `invalid_request` naming the option, `conflict` when an account has too many.
 */
export function createServiceKey(app: AppContext, words: Words): void {
  needService(words);
  const level = SERVICE_LEVELS.find((known) => known === words.level);
  if (level === undefined) {
    throw wrong('level', `${JSON.stringify(words.level ?? '')}: must be one of ${SERVICE_LEVELS.join(', ')}`);
  }
  if (words.email !== undefined && level !== 'account') {
    throw wrong('email', `a key of the level ${level} is of no account; leave it out, or use --level account`);
  }
  const name = nameFrom(words.name ?? '', '--name', KEY_NAME_MAX);
  const { key, made, email } = app.store.transact(() => keyMade(app, { ...words, level, name }));
  say(words.json, { id: made.id, key, level, ...(email === null ? {} : { email }) }, [
    key,
    `${level} key ${made.id} of the domain records${email === null ? '' : `, metered on the account of ${email}`}${endOf(made.expires_at)}; it is not shown again`,
  ]);
}

function keyMade(
  { store, now }: AppContext,
  { level, name, email, expiresAt }: Words & { level: ServiceLevel; name: string },
) {
  const { transact, serviceKeys: keys } = store;
  const maker = { keys, now, newId, random: randomBytes, transact, by: 'cli' };
  const field = '--expires-at';
  if (level !== 'account') {
    const expires_at = expiresAt === undefined ? null : keyExpiry(expiresAt, field, now());
    return { ...makeServiceKey(maker, { account: null, level, name, expires_at }), email: null };
  }
  const id = newId();
  // RFC 2606, section 2: no mail ever goes to .invalid.
  const address = email === undefined ? `${id}@account.invalid` : addressFrom(email);
  const account = store.accounts.ofEmail(address, { id, plan: 'daily', made_at: now() });
  return { ...makeAccountKey(maker, account.id, { name, expires: expiresAt, field }), email: account.email };
}

/** Lists the keys of an account, or those of none. Throws `not_found` when there is no such account. */
export function listServiceKeys({ store, now }: AppContext, words: Words): void {
  needService(words);
  const account = words.email === undefined ? null : needAccount(store, words.email).id;
  const keys = store.serviceKeys
    .list(account)
    .map((key) => serviceKeyRow(key, store.serviceKeys.hasExpired(key, now())));
  say(words.json, keys, keys.length === 0 ? ['no keys'] : keys.map(lineOf));
}

/** Revokes a key of any level. Throws `not_found` when none is in force. */
export function revokeServiceKey({ store, now }: AppContext, id: string, words: Words): void {
  needService(words);
  if (!store.serviceKeys.revoke(id, now(), 'cli')) {
    throw new Fault(
      'not_found',
      `the domain records have no key ${JSON.stringify(id)} in force; \`npm run -s broadsheet -- key list --service records\` shows their keys, with --email those of an account`,
    );
  }
  say(false, null, [`revoked ${id}`]);
}

/** Tells the log of a key of any level. Throws `not_found`. */
export function logServiceKey({ store, now }: AppContext, id: string, words: Words): void {
  needService(words);
  const { serviceKeys: keys } = store;
  const key = keys.byId(id);
  if (key === null) {
    throw new Fault(
      'not_found',
      `the domain records have no key ${JSON.stringify(id)}; \`npm run -s broadsheet -- key list --service records\` shows their keys, with --email those of an account`,
    );
  }
  sayLog(words.json, keyLog(key, keys.daysOf(id), keys.hasExpired(key, now())));
}

/** The account of an address. Throws `not_found`. */
export function needAccount(store: Pick<AppContext['store'], 'accounts'>, email: string): Account {
  const account = store.accounts.byEmail(email.trim().toLowerCase()) ?? store.accounts.byEmail(addressFrom(email));
  if (account !== null) return account;
  throw new Fault('not_found', `there is no account of ${JSON.stringify(email)}; its owner makes it by signing in`);
}

/** An address as accounts are known by: in lower case. Throws `invalid_request`. */
function addressFrom(text: string): string {
  const address = readAddress(text.trim());
  if ('problem' in address) throw wrong('email', `${JSON.stringify(text.slice(0, 80))} ${address.problem}`);
  return address.key;
}

function needService({ service }: Words): void {
  if (service !== SERVICE) {
    throw wrong('service', `${JSON.stringify(service)}: must be ${SERVICE}; keys of a paper take --paper`);
  }
}

function wrong(option: string, what: string): Fault {
  return new Fault('invalid_request', `--${option}: ${what}`, { field: option });
}

function lineOf({ id, level, name, ...life }: ReturnType<typeof serviceKeyRow>): string {
  return `${id}  ${level.padEnd(8)}  ${name}${lifeOf(life)}`;
}
