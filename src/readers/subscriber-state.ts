import type { Choices, Subscriber } from './subscriber.ts';
import { DEFAULT_CHOICES } from './subscriber.ts';
import type { Suppression } from './suppression.ts';
import { CONFIRM_REST, SUPPRESSED_REST, UNANSWERED_REST } from './suppression.ts';

/** What is known of one reader of one paper. */
export interface SubscriberState {
  row: Subscriber | null;
  suppression: Suppression | null;
}

/** Who a new row is of. */
export interface Who {
  id: string;
  paper: string;
  reader: string;
  email: string;
}

/** What an order leads to: the standing after it, and whether a mail is to ask for a confirmation. */
export interface Ordered {
  standing: SubscriberState;
  mails: boolean;
}

/**
 * A reader's own order. It changes nothing that is in force: an unconfirmed row
 * takes the new choices, a confirmed one keeps them beside its own, and a
 * suppression stays. All of that is settled by the confirmation.
 */
export function afterOrder({ row, suppression }: SubscriberState, who: Who, choices: Choices, now: number): Ordered {
  const rest = suppression === null ? restOf(row) : SUPPRESSED_REST[suppression.reason];
  const last = Math.max(row?.mailed_at ?? -Infinity, suppression?.mailed_at ?? -Infinity);
  const mails = now - last >= rest;
  const ordered = { ordered_at: now, mailed_at: mails ? now : (row?.mailed_at ?? null) };
  return {
    mails,
    standing: {
      row:
        row === null
          ? { ...newRow(who, choices, now), ...ordered }
          : row.confirmed_at === null
            ? { ...row, ...choices, ...ordered }
            : { ...row, asked: choices, ...ordered },
      suppression: suppression !== null && mails ? { ...suppression, mailed_at: now } : suppression,
    },
  };
}

/**
 * How long no other mail asks the same reader, in ms. One who never answered is
 * asked again after as long as the asking has gone on, and so ever more seldom:
 * 10, 20, 40 minutes.
 */
function restOf(row: Subscriber | null): number {
  if (row?.confirmed_at === null) return Math.max(CONFIRM_REST, (row.mailed_at ?? row.made_at) - row.made_at);
  return row?.asked == null ? CONFIRM_REST : UNANSWERED_REST;
}

/** An admin's order for somebody. */
export interface AdminOrder {
  /** What the admin chose; the rest is as the reader had it, or as usual. */
  choices: Partial<Choices>;
  /** Null takes a webhook away; without it all stays. */
  webhook?: { url: string; newSecret: string } | null;
}

/**
 * An admin's order for a reader: never for one who is suppressed, and nothing
 * but the webhook of one who has confirmed.
 */
export function afterAdminOrder(
  { row, suppression }: SubscriberState,
  who: Who,
  { choices, webhook }: AdminOrder,
  now: number,
): Ordered & { status: 'pending' | 'confirmed' | 'suppressed' } {
  if (suppression !== null) return { status: 'suppressed', mails: false, standing: { row, suppression } };
  const hook =
    webhook === undefined
      ? {}
      : webhook === null
        ? { webhook: null, webhook_secret: null }
        : { webhook: webhook.url, webhook_secret: row?.webhook_secret ?? webhook.newSecret };
  if (row !== null && row.confirmed_at !== null) {
    return { status: 'confirmed', mails: false, standing: { row: { ...row, ...hook }, suppression } };
  }
  const before = row ?? newRow(who, DEFAULT_CHOICES, now);
  const { cadence, sections, cast } = { ...before, ...choices };
  const { mails, standing } = afterOrder({ row: before, suppression }, who, { cadence, sections, cast }, now);
  return { status: 'pending', mails, standing: { ...standing, row: { ...(standing.row ?? before), ...hook } } };
}

/** The reader's own confirmation: the row is confirmed, what was asked for is in force, and nothing is suppressed. */
export function afterConfirmation(row: Subscriber, now: number): { row: Subscriber; suppression: null } {
  return { row: { ...row, ...row.asked, asked: null, confirmed_at: row.confirmed_at ?? now }, suppression: null };
}

function newRow(who: Who, choices: Choices, now: number): Subscriber {
  return {
    ...who,
    ...choices,
    asked: null,
    made_at: now,
    ordered_at: now,
    mailed_at: null,
    confirmed_at: null,
    last_sent_at: null,
    webhook: null,
    webhook_secret: null,
  };
}
