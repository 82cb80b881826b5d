import { Fault } from '../fault.ts';
import type { Address } from './address.ts';
import { readerOf } from './address.ts';
import type { MailRecord } from './mail.ts';
import type { ReaderDesk } from './reader-desk.ts';
import type { Subscriber } from './subscriber.ts';
import type { Suppression } from './suppression.ts';

/** Everything that is kept of one address by one paper. */
export interface Dossier {
  subscriber: Subscriber | null;
  suppression: Suppression | null;
  mails: MailRecord[];
}

/** Everything that is kept of an address. Throws `not_found` when that is nothing. */
export function dossierOf(desk: ReaderDesk, paper: string, address: Address): Dossier {
  const reader = readerOf(paper, address);
  const subscriber = desk.subscribers.of(paper, reader);
  const suppression = desk.suppressions.of(paper, reader);
  if (subscriber === null && (suppression === null || suppression.email === null)) {
    throw new Fault('not_found', 'nothing is kept of this address; look for a slip in its spelling');
  }
  return { subscriber, suppression, mails: subscriber === null ? [] : desk.mails.ofSubscriber(subscriber.id) };
}

/**
 * Forgets an address: its row, its links and its mails. That it is not to be
 * written to, where it is so, stays by its hash: erasing must not undo a refusal.
 * Throws `not_found` when nothing is kept of it.
 */
export function erase(desk: ReaderDesk, paper: string, address: Address): void {
  desk.transact(() => {
    const { subscriber, suppression } = dossierOf(desk, paper, address);
    const reader = readerOf(paper, address);
    if (subscriber !== null) desk.subscribers.remove(subscriber.id);
    if (suppression !== null) desk.suppressions.put({ ...suppression, email: null });
    desk.tokens.drop(paper, reader);
  });
}

/**
 * Has an address never written to, by hand: for who asked the desk itself, or
 * complained to the provider of the mail server.
 */
export function suppress(
  desk: ReaderDesk,
  paper: string,
  address: Address,
  reason: 'by_hand' | 'complained' = 'by_hand',
): void {
  const reader = readerOf(paper, address);
  desk.transact(() => {
    const row = desk.subscribers.of(paper, reader);
    if (row !== null) desk.subscribers.remove(row.id);
    desk.tokens.drop(paper, reader, 'confirm');
    desk.suppressions.put({ paper, reader, email: address.email, reason, at: desk.now(), mailed_at: null });
  });
}
