import { timingSafeEqual } from 'node:crypto';
import { Fault } from '../fault.ts';
import type { Account, AccountTable } from './account.ts';
import type { ChangeAlertTable } from './change-alert.ts';
import { mailedToken } from './mailed-token.ts';

/**
 * Finds the account whose change mails a link ends, without changing anything. `secret` is the key of mailed links.
 * Throws `not_found`.
 */
export function toUnsubscribe(accounts: AccountTable, secret: Uint8Array, account: string, token: string): Account {
  const [wanted, given] = [Buffer.from(mailedToken(secret, 'unsubscribe', account)), Buffer.from(token)];
  const isRight = wanted.length === given.length && timingSafeEqual(wanted, given);
  const found = isRight ? accounts.find(account) : null;
  if (found !== null) return found;
  throw new Fault('not_found', 'this link does not unsubscribe; use the one at the foot of a newer mail');
}

/** Ends all change mails to an account; repeating it has no effect. Webhooks continue. Throws `not_found`. */
export function unsubscribe(
  { accounts, changeAlerts }: { accounts: AccountTable; changeAlerts: ChangeAlertTable },
  secret: Uint8Array,
  { account, token }: { account: string; token: string },
  now: number,
): Account {
  const found = toUnsubscribe(accounts, secret, account, token);
  changeAlerts.mailsOff(found.id, 'unsubscribed', now);
  return found;
}
