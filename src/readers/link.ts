import { Fault } from '../fault.ts';
import type { ReaderDesk } from './reader-desk.ts';
import type { Choices, Subscriber } from './subscriber.ts';
import { afterConfirmation } from './subscriber-state.ts';
import type { Purpose, Token } from './token.ts';
import { tokenHash, tokenOf } from './token.ts';

/**
 * The token in force that a text is, of this paper and for this purpose. Throws
 * `not_found`, for a link that has ended as for one that never was.
 */
export function tokenIn({ tokens, now }: ReaderDesk, paper: string, purpose: Purpose, text: string): Token {
  const token = tokens.get(tokenHash(text));
  const isInForce =
    token?.paper === paper && token.purpose === purpose && (token.expires_at === null || token.expires_at > now());
  if (!isInForce) throw ended(purpose);
  return token;
}

/** The row as it is once a link has confirmed it, and whether it has; looking changes nothing. Throws `not_found`. */
export function toConfirm(desk: ReaderDesk, paper: string, text: string): { row: Subscriber; isDone: boolean } {
  const token = tokenIn(desk, paper, 'confirm', text);
  const row = desk.subscribers.of(paper, token.reader);
  const isDone = token.used_at !== null;
  if (row === null || (isDone && row.confirmed_at === null)) throw ended('confirm');
  return { row: isDone ? row : afterConfirmation(row, desk.now()).row, isDone };
}

/** Confirms an order, once; again it changes nothing. Throws `not_found`. */
export function confirm(desk: ReaderDesk, paper: string, text: string): Subscriber {
  return desk.transact(() => {
    const { row } = toConfirm(desk, paper, text);
    const now = desk.now();
    if (desk.tokens.use(tokenHash(text), now)) {
      desk.subscribers.put(row);
      desk.suppressions.lift(paper, row.reader);
    }
    return row;
  });
}

/** The reader's own link, which does not end: to change what was chosen, or to end it. */
export function manageToken({ tokens, secret }: ReaderDesk, paper: string, reader: string): string {
  const token = tokenOf(secret, 'manage', reader);
  const hash = tokenHash(token);
  // Every alert carries it: looking is cheaper than writing.
  if (tokens.get(hash) === null) {
    tokens.keep({ hash, paper, reader, purpose: 'manage', expires_at: null, used_at: null });
  }
  return token;
}

/** The confirmed reader of a managing link, or null once the subscription was ended. Throws `not_found`. */
export function toManage(desk: ReaderDesk, paper: string, text: string): Subscriber | null {
  const { reader } = tokenIn(desk, paper, 'manage', text);
  const row = desk.subscribers.of(paper, reader);
  return row?.confirmed_at == null ? null : row;
}

/** Changes what a reader chose. Throws `not_found`, also when the subscription was ended. */
export function choose(desk: ReaderDesk, paper: string, text: string, choices: Partial<Choices>): Subscriber {
  return desk.transact(() => {
    const row = toManage(desk, paper, text);
    if (row === null) throw ended('manage');
    // What was asked for and not confirmed is older than what the reader says now.
    const chosen = { ...row, ...choices, asked: null };
    desk.subscribers.put(chosen);
    return chosen;
  });
}

/** Ends a subscription, also one that is not confirmed; ended once, it stays so. Throws `not_found`. */
export function unsubscribe(desk: ReaderDesk, paper: string, text: string): void {
  desk.transact(() => {
    const { reader } = tokenIn(desk, paper, 'manage', text);
    const row = desk.subscribers.of(paper, reader);
    if (row === null) return;
    end(desk, row, 'unsubscribed');
  });
}

/** Takes a row out and remembers not to write to its reader. */
export function end(desk: ReaderDesk, row: Subscriber, reason: 'unsubscribed' | 'bounced'): void {
  const { paper, reader, email } = row;
  desk.subscribers.remove(row.id);
  desk.tokens.drop(paper, reader, 'confirm');
  // The mail that bounced was one: who orders for a dead mailbox again and again does not have us write to it each time.
  const mailed_at = reason === 'bounced' ? desk.now() : null;
  desk.suppressions.put({ paper, reader, email, reason, at: desk.now(), mailed_at });
}

function ended(purpose: Purpose): Fault {
  return new Fault(
    'not_found',
    purpose === 'confirm'
      ? 'this link does not confirm anything any more; subscribe again to get a new one'
      : 'this link is not in force; take the one at the foot of a newer mail',
  );
}
