import { Fault } from '../fault.ts';
import { mailboxHash } from '../outbound/mailbox.ts';
import type { Address } from './address.ts';
import { readerOf } from './address.ts';
import type { MailRecord } from './mail.ts';
import type { ReaderStore, ReaderTables } from './reader-tables.ts';
import type { Subscriber } from './subscriber.ts';
import type { Suppression } from './suppression.ts';

/** Everything that a paper stores about one address. */
export interface Dossier {
  subscriber: Subscriber | null;
  suppression: Suppression | null;
  mails: MailRecord[];
}

/** Everything that is stored about an address. Throws `not_found` when there is nothing. */
export function dossierOf(
  { subscribers, suppressions, mails }: ReaderTables,
  paper: string,
  address: Address,
): Dossier {
  const reader = readerOf(paper, address);
  const subscriber = subscribers.of(paper, reader);
  const suppression = suppressions.of(paper, reader);
  if (subscriber === null && (suppression === null || suppression.email === null)) {
    throw new Fault('not_found', 'nothing is stored about this address; check its spelling');
  }
  return { subscriber, suppression, mails: subscriber === null ? [] : mails.ofSubscriber(subscriber.id) };
}

/**
 * Erases an address: its row, its links and its mails. A suppression stays as a hash: erasure must not undo an
 * unsubscription. Throws `not_found` when nothing is stored about the address.
 */
export function erase({ readers, transact }: ReaderStore, paper: string, address: Address): void {
  transact(() => {
    const { subscriber, suppression } = dossierOf(readers, paper, address);
    if (subscriber !== null) readers.subscribers.remove(subscriber.id);
    if (suppression !== null) readers.suppressions.put({ ...suppression, email: null });
    readers.tokens.drop(paper, readerOf(paper, address));
    readers.askedMailboxes.clear(mailboxHash(address.email));
  });
}

/** Suppresses an address manually, for a reader who asked the desk itself or complained to the mail provider. */
export function suppress(
  { readers, transact }: ReaderStore,
  paper: string,
  address: Address,
  { reason, now }: { reason: 'by_hand' | 'complained'; now: number },
): void {
  const reader = readerOf(paper, address);
  transact(() => {
    const row = readers.subscribers.of(paper, reader);
    if (row !== null) readers.subscribers.remove(row.id);
    readers.tokens.drop(paper, reader, 'confirm');
    readers.suppressions.put({ paper, reader, email: address.email, reason, at: now, mailed_at: null });
  });
}
