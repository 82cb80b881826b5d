import { linkToken, secretHash } from '../../shared/access-key.ts';
import { Fault } from '../../shared/fault.ts';
import { mailboxHash } from '../../shared/outbound/mail-address.ts';
import type { ReaderStore, ReaderTables } from './subscribe.ts';
import { afterConfirmation, type Choices, type Subscriber } from './subscriber.ts';
import type { Purpose, Token, TokenTable } from './token.ts';

/** The valid token in a text, for this paper and purpose. Throws one `not_found` for expired and unknown tokens. */
export function tokenIn(tokens: TokenTable, paper: string, purpose: Purpose, text: string, now: number): Token {
  const token = tokens.get(secretHash(text));
  const isInForce =
    token?.paper === paper && token.purpose === purpose && (token.expires_at === null || token.expires_at > now);
  if (!isInForce) throw expired(purpose);
  return token;
}

/** The row that a link would confirm, and whether it is already confirmed. Changes nothing. Throws `not_found`. */
export function toConfirm(
  { tokens, subscribers }: ReaderTables,
  paper: string,
  text: string,
  now: number,
): { row: Subscriber; isDone: boolean } {
  const token = tokenIn(tokens, paper, 'confirm', text, now);
  const row = subscribers.of(paper, token.reader);
  const isDone = token.used_at !== null;
  if (row === null || (isDone && row.confirmed_at === null)) throw expired('confirm');
  return { row: isDone ? row : afterConfirmation(row, now), isDone };
}

/** Confirms a subscription; repeating it has no effect. Throws `not_found`. */
export function confirm({ readers, transact }: ReaderStore, paper: string, text: string, now: number): Subscriber {
  return transact(() => {
    const { row } = toConfirm(readers, paper, text, now);
    if (readers.tokens.use(secretHash(text), now)) {
      readers.subscribers.put(row);
      readers.suppressions.lift(paper, row.reader);
      readers.askedMailboxes.clear(mailboxHash(row.email));
    }
    return row;
  });
}

/** The token of a reader's own link, which never expires. `secret` is the key of mailed links. */
export function manageToken(tokens: TokenTable, secret: Uint8Array, paper: string, reader: string): string {
  const token = linkToken(secret, 'manage', reader);
  const hash = secretHash(token);
  // Checks first, because every alert contains the link and reading is cheaper than writing.
  if (tokens.get(hash) === null) {
    tokens.keep({ hash, paper, reader, purpose: 'manage', expires_at: null, used_at: null });
  }
  return token;
}

/** The confirmed reader of a management link, or null once the subscription has ended. Throws `not_found`. */
export function toManage(
  { tokens, subscribers }: ReaderTables,
  paper: string,
  text: string,
  now: number,
): Subscriber | null {
  const { reader } = tokenIn(tokens, paper, 'manage', text, now);
  const row = subscribers.of(paper, reader);
  return row?.confirmed_at == null ? null : row;
}

/** Changes a reader's choices. Throws `not_found`, also when the subscription has ended. */
export function choose(
  { readers, transact }: ReaderStore,
  paper: string,
  text: string,
  choices: Partial<Choices>,
  now: number,
): Subscriber {
  return transact(() => {
    const row = toManage(readers, paper, text, now);
    if (row === null) throw expired('manage');
    // The choices made now replace an unconfirmed request, which is older.
    const chosen = { ...row, ...choices, asked: null };
    readers.subscribers.put(chosen);
    return chosen;
  });
}

/** Ends a subscription, confirmed or not; repeating it has no effect. Throws `not_found`. */
export function unsubscribe({ readers, transact }: ReaderStore, paper: string, text: string, now: number): void {
  transact(() => {
    const { reader } = tokenIn(readers.tokens, paper, 'manage', text, now);
    const row = readers.subscribers.of(paper, reader);
    if (row !== null) end(readers, row, 'unsubscribed', now);
  });
}

/** Deletes a subscription and suppresses its reader. */
export function end(
  { subscribers, suppressions, tokens }: ReaderTables,
  { id, paper, reader, email }: Subscriber,
  reason: 'unsubscribed' | 'bounced',
  now: number,
): void {
  subscribers.remove(id, now);
  tokens.drop(paper, reader, 'confirm');
  // The bounced mail counts as a request, so that repeated requests for a dead mailbox do not send a mail each time.
  const mailed_at = reason === 'bounced' ? now : null;
  suppressions.put({ paper, reader, email, reason, at: now, mailed_at });
}

function expired(purpose: Purpose): Fault {
  return new Fault(
    'not_found',
    purpose === 'confirm'
      ? 'this link has expired; subscribe again to get a new one'
      : 'this link is no longer valid; use the one at the foot of a newer mail',
  );
}
