import { DAY, dayOf, isoOrNull, isoTime } from '../../proof/time.ts';
import { csvLine } from '../../shared/csv.ts';
import { Fault } from '../../shared/fault.ts';
import { type Address, mailboxHash, readerOf } from '../../shared/outbound/mail-address.ts';
import { newWebhookSecret } from '../../shared/outbound/webhook-url.ts';
import type { MailRecord, MailTable } from './mail.ts';
import {
  ASKED_KEPT,
  type AskedMailboxTable,
  afterAdminRequest,
  afterRequest,
  type Choices,
  mayAskMailbox,
  type Outcome,
  type ReaderDay,
  type Subscriber,
  type SubscriberQuery,
  type SubscriberState,
  type SubscriberTable,
  type Suppression,
  type SuppressionTable,
  UNCONFIRMED_KEPT,
  type Who,
} from './subscriber.ts';
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

/** The time in ms and the ids for new rows. */
interface Fresh {
  now: number;
  newId(): string;
}

/** Handles a reader's request. Does the same work for every address, so that nobody learns who is subscribed. */
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
 * Handles an admin's request to subscribe one address, in its own transaction or in the caller's. Returns the state of
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

/** Everything that a paper stores about one address. */
interface Dossier {
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
 * Erases an address: its row, its links and its mails. A suppression stays as a hash, so that erasure does not undo an
 * unsubscription. Throws `not_found` when nothing is stored about the address.
 */
export function erase({ readers, transact }: ReaderStore, paper: string, address: Address, now: number): void {
  transact(() => {
    const { subscriber, suppression } = dossierOf(readers, paper, address);
    if (subscriber !== null) readers.subscribers.remove(subscriber.id, now);
    if (suppression !== null) readers.suppressions.put({ ...suppression, email: null });
    readers.tokens.drop(paper, readerOf(paper, address));
    readers.askedMailboxes.clear(mailboxHash(address.email));
  });
}

/** Suppresses an address manually, for a reader who asked the desk directly or complained to the mail provider. */
export function suppress(
  { readers, transact }: ReaderStore,
  paper: string,
  address: Address,
  { reason, now }: { reason: 'by_hand' | 'complained'; now: number },
): void {
  const reader = readerOf(paper, address);
  transact(() => {
    const row = readers.subscribers.of(paper, reader);
    if (row !== null) readers.subscribers.remove(row.id, now);
    readers.tokens.drop(paper, reader, 'confirm');
    readers.suppressions.put({ paper, reader, email: address.email, reason, at: now, mailed_at: null });
  });
}

/** A subscriber as admins see it; `sections` are the paper's. */
export function subscriberRow(row: Subscriber, sections: readonly string[]) {
  return {
    email: row.email,
    confirmed_at: isoOrNull(row.confirmed_at),
    ...choicesRow(row, sections),
    last_sent_at: isoOrNull(row.last_sent_at),
    ...(row.webhook === null
      ? {}
      : { webhook: row.webhook, webhook_secret: row.webhook_secret ?? '', webhook_id: row.id }),
  };
}

/** The columns of an export of readers. */
const COLUMNS = ['email', 'confirmed_at', 'cadence', 'sections', 'cast', 'last_sent_at'] as const;

/** Yields the readers of a list as CSV: a header, then a line for each. Semicolons separate sections. */
export function* readersAsCsv(
  { subscribers }: Pick<ReaderTables, 'subscribers'>,
  paper: string,
  sections: readonly string[],
  query: Omit<SubscriberQuery, 'limit' | 'after'>,
): Generator<string> {
  yield csvLine(COLUMNS);
  const read = (after: string) => subscribers.list(paper, { ...query, limit: EXPORT_BATCH, after });
  for (const row of inBatches(read, (last) => last.id)) {
    const shown = { ...subscriberRow(row, sections), cast: String(row.cast) };
    yield csvLine(COLUMNS.map((name) => (name === 'sections' ? shown.sections.join('; ') : shown[name])));
  }
}

/** How many rows an export reads at a time. */
const EXPORT_BATCH = 1_000;

function* inBatches<Row>(read: (after: string) => Row[], positionOf: (row: Row) => string): Generator<Row> {
  let rows = read('');
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    yield* rows;
    rows = read(positionOf(last));
  }
}

/** For each of the last days, oldest first: how many readers confirmed and left, and how many there were at its end. */
export function readerCounts(
  { subscribers }: Pick<ReaderTables, 'subscribers'>,
  paper: string,
  { days, now }: { days: number; now: number },
): (ReaderDay & { total: number })[] {
  const first = dayOf(now - (days - 1) * DAY);
  const known = new Map(subscribers.days(paper, first).map((row) => [row.day, row]));
  let total = subscribers.counts(paper).confirmed;
  // Counts back from today: the number at the end of a day is the next day's, without that day's changes.
  const rows = Array.from({ length: days }, (_, before) => {
    const day = dayOf(now - before * DAY);
    const { confirmed, left } = known.get(day) ?? { confirmed: 0, left: 0 };
    const row = { day, confirmed, left, total };
    total += left - confirmed;
    return row;
  });
  return rows.reverse();
}

/** Everything that is stored about an address, in wire format; `sections` are the paper's. */
export function dossierRecord(email: string, { subscriber, suppression, mails }: Dossier, sections: readonly string[]) {
  return {
    email,
    subscriber:
      subscriber === null
        ? null
        : {
            ...subscriberRow(subscriber, sections),
            made_at: isoTime(subscriber.made_at),
            ordered_at: isoTime(subscriber.ordered_at),
            asked: subscriber.asked === null ? null : choicesRow(subscriber.asked, sections),
          },
    suppression: suppression === null ? null : { reason: suppression.reason, at: isoTime(suppression.at) },
    mails: mails.map(({ kind, about, state, attempts, error, settled_at, due_at }) => ({
      kind,
      about,
      state,
      attempts,
      error,
      at: isoTime(settled_at ?? due_at),
    })),
  };
}

/** Choices in wire format. Sections are listed by name, even if all are meant. */
export function choicesRow(choices: Choices, sections: readonly string[]) {
  return { cadence: choices.cadence, sections: choices.sections ?? [...sections], cast: choices.cast };
}
