import { DAY, MINUTE } from '../time.ts';
import type { AccountTable } from './account.ts';
import type { AccountMailTable } from './account-mail.ts';
import type { AlertWay } from './change-alert.ts';

/** What telling needs to know of a delta. */
export interface ToldDelta {
  seq: number;
  /** When it was entered, in ms. */
  at: number;
  domain: string;
}

/** An alert that a delta is for. */
export interface ToldAlert {
  id: string;
  account: string;
  way: AlertWay;
  url: string | null;
}

export interface NewDelivery {
  id: string;
  alert: string;
  type: string;
  body: string;
  /** The receiver's name and port. */
  host: string;
  /** One attempt, and no schedule. */
  by_hand: boolean;
  made_at: number;
}

export interface ChangeQueueTable {
  /** The last delta that was looked through. */
  mark(): number;
  setMark(seq: number): void;
  /** Alerts that are on and older than a delta at one hostname: of it, or of a group that has it; those at once before those of a day. */
  alertsFor(hostname: string, at: number): ToldAlert[];
  /** Notes what is to be told by mail, unless the account is told of it already. */
  notice(account: string, way: 'instant' | 'daily', delta: ToldDelta): void;
  deliver(delivery: NewDelivery): void;
  /** Accounts with something to tell that was entered before a time (ms), and that were not written to after another. */
  owed(way: 'instant' | 'daily', before: number, notSince: number, limit: number): string[];
  /** Gives a mail all that waits for an account and was entered before a time, and notes when. */
  gather(account: string, way: 'instant' | 'daily', before: number, mail: string, at: number): void;
  /** Drops what was entered, or made, at or before a time. */
  forget(until: number): void;
}

/** What queueing works with. */
export interface ChangeDesk<D extends ToldDelta> {
  queue: ChangeQueueTable;
  mails: AccountMailTable;
  accounts: AccountTable;
  /** Shown deltas after a number, oldest first. */
  deltasAfter(seq: number, limit: number): D[];
  /** The number of the newest delta; 0 before the first. */
  newest(): number;
  /** What a webhook is sent, as JSON. */
  compose(deltas: D[], at: number): string;
  hostOf(url: string): string;
  transact<T>(work: () => T): T;
  now(): number;
  newId(): string;
}

/** How many deltas are looked through in one transaction: others want to write too. */
const BATCH = 200;
/** How many changes a webhook is told of in one request. */
const CHANGES_MAX = 100;
/** How far apart mails of changes to one account are, in ms: what comes between is told together. */
export const MAIL_EVERY = 5 * MINUTE;
/** How many accounts are looked after in one go. */
const ACCOUNTS = 100;

/**
 * Looks the next deltas through and queues whom they are for; the mark moves
 * with what was queued: whatever crashes, each account has each of them queued
 * once. False when nothing is left to look through.
 */
export function queueChanges<D extends ToldDelta>(desk: ChangeDesk<D>): boolean {
  const { queue, deltasAfter, newest, transact } = desk;
  // Looked at outside of a transaction: most looks find nothing.
  if (queue.mark() >= newest()) return false;
  return transact(() => {
    const mark = queue.mark();
    const last = newest();
    const deltas = deltasAfter(mark, BATCH);
    const webhooks = new Map<string, { alert: ToldAlert; deltas: D[] }>();
    for (const delta of deltas) {
      for (const alert of queue.alertsFor(delta.domain, delta.at)) {
        if (alert.way !== 'webhook') {
          queue.notice(alert.account, alert.way, delta);
          continue;
        }
        const told = webhooks.get(alert.id) ?? { alert, deltas: [] };
        webhooks.set(alert.id, told);
        if (told.deltas.at(-1)?.seq !== delta.seq) told.deltas.push(delta);
      }
    }
    for (const { alert, deltas: told } of webhooks.values()) deliver(desk, alert, told);
    // What is not shown is not among them: a batch that is not full reaches the newest.
    const reached = deltas.length < BATCH ? last : (deltas.at(-1)?.seq ?? last);
    queue.setMark(Math.max(mark, reached));
    return reached < last;
  });
}

function deliver<D extends ToldDelta>(
  { queue, compose, hostOf, now, newId }: ChangeDesk<D>,
  { id: alert, url }: ToldAlert,
  deltas: D[],
): void {
  const made_at = now();
  for (let at = 0; at < deltas.length; at += CHANGES_MAX) {
    const body = compose(deltas.slice(at, at + CHANGES_MAX), made_at);
    queue.deliver({
      id: newId(),
      alert,
      type: 'domain.changed',
      body,
      host: hostOf(url ?? ''),
      by_hand: false,
      made_at,
    });
  }
}

/**
 * Queues mails of what waits: at once where the last one is some minutes old,
 * and what a day brought after its end, in UTC. After a long sleep that is one
 * mail each.
 */
export function queueChangeMails<D extends ToldDelta>({
  queue,
  mails,
  accounts,
  transact,
  now,
  newId,
}: ChangeDesk<D>): void {
  const at = now();
  const today = Math.floor(at / DAY) * DAY;
  const owed = [
    { way: 'instant', kind: 'changes', before: Number.MAX_SAFE_INTEGER, notSince: at - MAIL_EVERY },
    { way: 'daily', kind: 'digest', before: today, notSince: today - 1 },
  ] as const;
  for (const { way, kind, before, notSince } of owed) {
    if (queue.owed(way, before, notSince, 1).length === 0) continue;
    transact(() => {
      for (const account of queue.owed(way, before, notSince, ACCOUNTS)) {
        const id = newId();
        queue.gather(account, way, before, id, at);
        const email = accounts.find(account)?.email;
        if (email !== undefined) mails.queue({ id, account, email, kind, due_at: at });
      }
    });
  }
}
