import type { Address } from './address.ts';
import { readerOf } from './address.ts';
import type { ReaderDesk } from './reader-desk.ts';
import type { Choices } from './subscriber.ts';
import { UNCONFIRMED_KEPT } from './subscriber.ts';
import type { Ordered } from './subscriber-state.ts';
import { afterAdminOrder, afterOrder } from './subscriber-state.ts';
import { newWebhookSecret } from './webhook.ts';

/**
 * Takes a reader's order. It does as much whatever is known of the address, and
 * returns nothing: who asks is not told who subscribes.
 */
export function order(desk: ReaderDesk, paper: string, address: Address, choices: Choices): void {
  desk.transact(() => {
    const now = desk.now();
    sweep(desk, now);
    const who = { id: desk.newId(), paper, reader: readerOf(paper, address), email: address.email };
    settle(desk, afterOrder(standingOf(desk, who), who, choices, now), now);
  });
}

/**
 * Takes an admin's order for one address, as a transaction or as part of the
 * caller's, and returns where it stands. A `webhook` of null takes the reader's away.
 */
export function orderByAdmin(
  desk: ReaderDesk,
  paper: string,
  address: Address,
  choices: Partial<Choices>,
  webhook?: string | null,
): 'pending' | 'confirmed' | 'suppressed' {
  return desk.transact(() => {
    const now = desk.now();
    sweep(desk, now);
    const who = { id: desk.newId(), paper, reader: readerOf(paper, address), email: address.email };
    const hook = webhook == null ? webhook : { url: webhook, newSecret: newWebhookSecret((n) => desk.random(n)) };
    const asked = hook === undefined ? { choices } : { choices, webhook: hook };
    const ordered = afterAdminOrder(standingOf(desk, who), who, asked, now);
    if (ordered.status !== 'suppressed') settle(desk, ordered, now);
    return ordered.status;
  });
}

/** Drops what nobody confirmed, and links that have ended. */
export function sweep({ subscribers, tokens }: ReaderDesk, now: number): void {
  subscribers.forget(now - UNCONFIRMED_KEPT);
  tokens.forget(now);
}

function standingOf({ subscribers, suppressions }: ReaderDesk, { paper, reader }: { paper: string; reader: string }) {
  return { row: subscribers.of(paper, reader), suppression: suppressions.of(paper, reader) };
}

function settle(desk: ReaderDesk, { standing, mails }: Ordered, now: number): void {
  const { row, suppression } = standing;
  if (row === null) return;
  desk.subscribers.put(row);
  if (suppression !== null) desk.suppressions.put(suppression);
  if (mails) {
    desk.mails.queue({
      id: desk.newId(),
      paper: row.paper,
      subscriber: row.id,
      kind: 'confirm',
      about: '',
      due_at: now,
    });
  }
}
