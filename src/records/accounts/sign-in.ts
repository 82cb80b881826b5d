import { DAY, HOUR, MINUTE } from '../../proof/time.ts';
import { linkToken, secretHash } from '../../shared/access-key.ts';
import { Fault } from '../../shared/fault.ts';
import { beginSession } from '../../shared/session.ts';
import type { Account, AccountTable } from './account.ts';
import type { AccountMailTable } from './account-mail.ts';
import type { AccountSessionTable, Session } from './session.ts';

/** A mailed sign-in link. Times in ms. */
export interface SignIn {
  id: string;
  email: string;
  made_at: number;
  expires_at: number;
  used_at: number | null;
}

export interface SignInTable {
  insert(signIn: SignIn, hash: string): void;
  byId(id: string): SignIn | null;
  byHash(hash: string): SignIn | null;
  /** Marks all unused links of an address as used. False when the given link was used before. */
  use(id: string, at: number): boolean;
  /**
   * Counts unused links made before `before` for all addresses of a mailbox (`mailboxOf`), and returns when the first
   * and the last of them were made.
   */
  unanswered(email: string, before: number): { count: number; first_at: number; last_at: number };
  dropEmail(email: string): void;
  forget(until: number): void;
}

export const SIGN_IN_LIFETIME = 30 * MINUTE;
export const REQUESTS_MAX = 3;
/** The minimum pause after that many unused links. Each pause lasts as long as the requests have lasted so far. */
export const REQUESTS_SPAN = 15 * MINUTE;
/**
 * The longest pause for an address that has an account: its owner must be able to sign in while others send requests.
 */
export const OWNER_REST = 2 * HOUR;
export const SIGN_INS_KEPT = 14 * DAY;

interface SignInStore {
  accounts: AccountTable;
  sessions: AccountSessionTable;
  signIns: SignInTable;
  accountMails: AccountMailTable;
  transact<T>(work: () => T): T;
}

/**
 * Queues a mail with a link, in the same way for addresses with and without an account. An address that leaves its
 * links unused gets further ones at growing intervals, which the response does not reveal. `secret` is the key of
 * mailed links.
 */
export function requestSignIn(
  { accounts, signIns, accountMails, transact }: SignInStore,
  email: string,
  { now, newId, secret }: { now(): number; newId(): string; secret: Uint8Array },
): void {
  transact(() => {
    const made_at = now();
    // Links made more than `REQUESTS_SPAN` in the future date from before the clock was set back; ignore them.
    const { count, first_at, last_at } = signIns.unanswered(email, made_at + REQUESTS_SPAN);
    if (count >= REQUESTS_MAX) {
      const most = accounts.byEmail(email) === null ? Number.POSITIVE_INFINITY : OWNER_REST;
      const rest = Math.min(most, Math.max(REQUESTS_SPAN, last_at - first_at));
      if (made_at - last_at < rest) return;
    }
    const id = newId();
    const hash = secretHash(linkToken(secret, 'sign-in', id));
    signIns.insert({ id, email, made_at, expires_at: made_at + SIGN_IN_LIFETIME, used_at: null }, hash);
    accountMails.queue({ id, account: null, email, kind: 'sign-in', due_at: made_at });
  });
}

/** The sign-in of a mailed link. Throws `not_found` for an unknown, used or expired link. */
export function requireSignIn(signIns: SignInTable, token: string, now: number): SignIn {
  const found = signIns.byHash(secretHash(token));
  if (found === null || found.used_at !== null || found.expires_at <= now) {
    const message =
      'this link cannot sign you in: it was used, is older than 30 minutes, or is incomplete; ask for another';
    throw new Fault('not_found', message);
  }
  return found;
}

/**
 * Signs in with a link, which works once. Creates the account if it does not exist; `mayMake` throws when too many were
 * created lately, and the link then stays valid. Throws `not_found`.
 */
export function signIn(
  { accounts, sessions, signIns, transact }: SignInStore,
  token: string,
  {
    now,
    newId,
    random,
    browser = null,
  }: { now(): number; newId(): string; random(n: number): Uint8Array; browser?: string | null },
  mayMake: (at: number) => void = () => {},
): { account: Account; session: Session; token: string } {
  return transact(() => {
    const at = now();
    const { id, email } = requireSignIn(signIns, token, at);
    if (accounts.byEmail(email) === null) mayMake(at);
    signIns.use(id, at);
    const account = accounts.ofEmail(email, { id: newId(), plan: 'daily', made_at: at });
    return { account, ...beginSession({ sessions, now, newId, random }, { account: account.id, browser }) };
  });
}
