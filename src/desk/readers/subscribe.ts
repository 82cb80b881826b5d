import { type Address, readerOf } from '../../shared/outbound/mail-address.ts';
import { mailboxHash } from '../../shared/outbound/mailbox.ts';
import { newWebhookSecret } from '../../shared/outbound/webhook-url.ts';
import type { MailTable } from './mail.ts';
import {
  afterAdminRequest,
  afterRequest,
  type Choices,
  type Outcome,
  type SubscriberState,
  type SubscriberTable,
  UNCONFIRMED_KEPT,
  type Who,
} from './subscriber.ts';
import { ASKED_KEPT, type AskedMailboxTable, mayAskMailbox, type SuppressionTable } from './suppression.ts';
import type { TokenTable } from './token.ts';

/** The tables about readers. */
export interface ReaderTables {
  subscribers: SubscriberTable;
  suppressions: SuppressionTable;
  tokens: TokenTable;
  mails: MailTable;
  askedMailboxes: AskedMailboxTable;
}

/** The part of the store that the rules for readers use. */
export interface ReaderStore {
  readers: ReaderTables;
  /** Runs `work` as one transaction, exclusively among all processes. */
  transact<T>(work: () => T): T;
}

/** The inputs of a new row: the time in ms, and ids. */
interface Fresh {
  now: number;
  newId(): string;
}

/** A reader's request to subscribe: the same work for every address, so that nobody learns who is subscribed. */
export function subscribe(
  { readers, transact }: ReaderStore,
  paper: string,
  address: Address,
  choices: Choices,
  { now, newId }: Fresh,
): void {
  transact(() => {
    deleteExpired(readers, now);
    const who = { id: newId(), paper, reader: readerOf(paper, address), email: address.email };
    save(readers, afterRequest(stateOf(readers, who, now), who, choices, now), { now, newId });
  });
}

/**
 * Accepts an admin's request to subscribe one address, in its own transaction or in the caller's. Returns the state of
 * the subscription. A `webhook` of null removes the reader's webhook.
 */
export function subscribeByAdmin(
  { readers, transact }: ReaderStore,
  paper: string,
  address: Address,
  { choices, webhook }: { choices: Partial<Choices>; webhook?: string | null | undefined },
  { now, newId }: Fresh,
): 'pending' | 'confirmed' | 'suppressed' {
  return transact(() => {
    deleteExpired(readers, now);
    const who = { id: newId(), paper, reader: readerOf(paper, address), email: address.email };
    const state = stateOf(readers, who, now);
    const webhook_secret = webhook === null ? null : (state.row?.webhook_secret ?? newWebhookSecret());
    const hook = webhook === undefined ? {} : { webhook, webhook_secret };
    const outcome = afterAdminRequest(state, who, choices, hook, now);
    if (outcome.status !== 'suppressed') save(readers, outcome, { now, newId });
    return outcome.status;
  });
}

/** Deletes unconfirmed requests and expired links. */
export function deleteExpired({ subscribers, tokens, askedMailboxes }: ReaderTables, now: number): void {
  subscribers.forget(now - UNCONFIRMED_KEPT);
  tokens.forget(now);
  askedMailboxes.forget(now - ASKED_KEPT);
}

function stateOf(
  { subscribers, suppressions, askedMailboxes }: ReaderTables,
  { paper, reader, email }: Who,
  now: number,
): SubscriberState {
  return {
    row: subscribers.of(paper, reader),
    suppression: suppressions.of(paper, reader),
    mayAsk: mayAskMailbox(askedMailboxes.of(mailboxHash(email), paper, now), now),
  };
}

function save(
  { subscribers, suppressions, mails, askedMailboxes }: ReaderTables,
  { state: { row, suppression }, asksToConfirm }: Outcome,
  { now, newId }: Fresh,
): void {
  if (row === null) return;
  subscribers.put(row);
  if (suppression !== null) suppressions.put(suppression);
  if (asksToConfirm) {
    askedMailboxes.note(mailboxHash(row.email), row.paper, now);
    mails.queue({ id: newId(), paper: row.paper, subscriber: row.id, kind: 'confirm', about: '', due_at: now });
  }
}
