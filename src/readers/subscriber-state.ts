import type { Choices, Subscriber } from './subscriber.ts';
import { DEFAULT_CHOICES } from './subscriber.ts';
import type { Suppression } from './suppression.ts';
import { CONFIRM_REST, SUPPRESSED_REST, UNANSWERED_REST } from './suppression.ts';

/** What is known of one reader of one paper. */
export interface SubscriberState {
  row: Subscriber | null;
  suppression: Suppression | null;
}

/** Whose row a new one is. */
export interface Who {
  id: string;
  paper: string;
  reader: string;
  email: string;
}

/** The state after a request to subscribe, and whether a mail asks to confirm it. */
export interface Outcome {
  state: SubscriberState;
  asksToConfirm: boolean;
}

/**
 * A reader's own request. It changes nothing that is in force: an unconfirmed row takes the new choices, a confirmed
 * one keeps them beside its own, and a suppression stays. The confirmation settles all of that.
 */
export function afterRequest({ row, suppression }: SubscriberState, who: Who, choices: Choices, now: number): Outcome {
  const rest = suppression === null ? restOf(row) : SUPPRESSED_REST[suppression.reason];
  const last = Math.max(row?.mailed_at ?? -Infinity, suppression?.mailed_at ?? -Infinity);
  const asksToConfirm = now - last >= rest;
  const requested = { ordered_at: now, mailed_at: asksToConfirm ? now : (row?.mailed_at ?? null) };
  return {
    asksToConfirm,
    state: {
      row:
        row === null
          ? { ...newRow(who, choices, now), ...requested }
          : row.confirmed_at === null
            ? { ...row, ...choices, ...requested }
            : { ...row, asked: choices, ...requested },
      suppression: suppression !== null && asksToConfirm ? { ...suppression, mailed_at: now } : suppression,
    },
  };
}

/**
 * How long the reader is not asked again, in ms. A reader who never answered is asked again after as long as the asking
 * has gone on, and so at growing intervals: 10, 20, 40 minutes.
 */
function restOf(row: Subscriber | null): number {
  if (row?.confirmed_at === null) return Math.max(CONFIRM_REST, (row.mailed_at ?? row.made_at) - row.made_at);
  return row?.asked == null ? CONFIRM_REST : UNANSWERED_REST;
}

/** An admin's request to subscribe somebody. */
export interface AdminRequest {
  /** What the admin chose; the rest is as the reader had it, or the default. */
  choices: Partial<Choices>;
  /** Null removes a webhook; undefined keeps it. */
  webhook?: { url: string; newSecret: string } | null;
}

/** An admin's request for a reader: it never reaches one who is suppressed, and changes only the webhook of one who has confirmed. */
export function afterAdminRequest(
  { row, suppression }: SubscriberState,
  who: Who,
  { choices, webhook }: AdminRequest,
  now: number,
): Outcome & { status: 'pending' | 'confirmed' | 'suppressed' } {
  if (suppression !== null) return { status: 'suppressed', asksToConfirm: false, state: { row, suppression } };
  const hook =
    webhook === undefined
      ? {}
      : webhook === null
        ? { webhook: null, webhook_secret: null }
        : { webhook: webhook.url, webhook_secret: row?.webhook_secret ?? webhook.newSecret };
  if (row !== null && row.confirmed_at !== null) {
    return { status: 'confirmed', asksToConfirm: false, state: { row: { ...row, ...hook }, suppression } };
  }
  const before = row ?? newRow(who, DEFAULT_CHOICES, now);
  const { cadence, sections, cast } = { ...before, ...choices };
  const { asksToConfirm, state } = afterRequest({ row: before, suppression }, who, { cadence, sections, cast }, now);
  return { status: 'pending', asksToConfirm, state: { ...state, row: { ...(state.row ?? before), ...hook } } };
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
