import { timingSafeEqual } from 'node:crypto';
import { Fault } from '../fault.ts';
import type { Account, AccountTable } from './account.ts';
import type { ChangeAlertTable } from './change-alert.ts';
import { mailedToken } from './mailed-token.ts';

interface UnsubscribeDesk {
  accounts: AccountTable;
  alerts: ChangeAlertTable;
  now(): number;
  readonly secret: Uint8Array;
}

/** The account whose mails of changes a link ends; it changes nothing. Throws `not_found`. */
export function toUnsubscribe(
  { accounts, secret }: Pick<UnsubscribeDesk, 'accounts' | 'secret'>,
  account: string,
  token: string,
): Account {
  const [wanted, given] = [Buffer.from(mailedToken(secret, 'unsubscribe', account)), Buffer.from(token)];
  const isRight = wanted.length === given.length && timingSafeEqual(wanted, given);
  const found = isRight ? accounts.find(account) : null;
  if (found !== null) return found;
  throw new Fault('not_found', 'this link ends no mails; take the one at the foot of a newer mail');
}

/** Ends all mails of changes to an account; done again it changes nothing. Webhooks go on. Throws `not_found`. */
export function unsubscribe(desk: UnsubscribeDesk, account: string, token: string): Account {
  const found = toUnsubscribe(desk, account, token);
  desk.alerts.mailsOff(found.id, 'unsubscribed', desk.now());
  return found;
}
