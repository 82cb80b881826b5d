import { DAY, MINUTE } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import { hostOf } from '../../shared/outbound/webhook-url.ts';
import type { ExpectationTable } from '../expectations.ts';
import type { AccountTable } from './account.ts';
import type { AccountMailTable } from './account-mail.ts';
import { type AlertEvent, alertBody, changeMessage, TEST_MESSAGE } from './alert-body.ts';
import type { ChangeAlert, ChangeAlertTable } from './change-alert.ts';

interface QueuedDelta {
  seq: number;
  /** When it was recorded, in ms. */
  at: number;
  domain: string;
  signal: string;
}

/** An alert that covers a delta. */
type MatchedAlert = Pick<ChangeAlert, 'id' | 'account' | 'way' | 'url' | 'format' | 'routing_key'>;

interface NewDelivery {
  id: string;
  alert: string;
  type: string;
  body: string;
  /** The receiver's hostname and port. */
  host: string;
  /** Requested manually: one attempt, and no retries. */
  by_hand: boolean;
  made_at: number;
  /** Deliveries of the same incident and alert are sent in order; null when the order does not matter. */
  incident: string | null;
}

export interface ChangeQueueTable {
  /** The number of the last delta that was queued. */
  cursor(): number;
  setCursor(seq: number): void;
  /**
   * Alerts that were on when a delta was recorded and that cover its hostname, directly or through a group; instant
   * ones before daily ones. Omits accounts that expect values of that signal and whose expectation is currently met or
   * violated: they get the expectation's own events instead. With the signal '', omits none.
   */
  alertsFor(hostname: string, at: number, signal: string): MatchedAlert[];
  /** Records a delta for an account's next mail, unless it is already recorded. */
  notice(account: string, way: 'instant' | 'daily', delta: QueuedDelta): void;
  deliver(delivery: NewDelivery): void;
  /** Accounts with deltas recorded before `before` and no mail since `notSince`, both in ms. */
  due(way: 'instant' | 'daily', before: number, notSince: number, limit: number): string[];
  /** Assigns all deltas recorded for an account before `before` to a mail, and stores `at` as the time of that mail. */
  gather(account: string, way: 'instant' | 'daily', before: number, mail: string, at: number): void;
  /** Deletes deltas recorded, and settled deliveries made, at or before `until`. */
  forget(until: number): void;
}

interface ChangeStore {
  changeQueue: ChangeQueueTable;
  transact<T>(work: () => T): T;
}

export interface DeltaSource<D extends QueuedDelta> {
  after(seq: number, limit: number): D[];
  newest(): number;
  row(delta: D): object;
  /** The change in one line of text. */
  line(delta: D): string;
}

/** Deltas matched per transaction: a transaction blocks other writers. */
const BATCH = 200;
/** The most changes in one webhook request. */
const CHANGES_MAX = 100;
/** The minimum interval between two change mails to one account, in ms. Changes in between are sent together. */
export const MAIL_EVERY = 5 * MINUTE;
const ACCOUNTS = 100;

/**
 * Matches the next deltas with alerts and queues them. The cursor moves in the same transaction, so each delta is
 * queued once per account, even after a crash. False when no delta is left.
 */
export function queueChanges<D extends QueuedDelta>(
  { changeQueue: queue, transact }: ChangeStore,
  deltas: DeltaSource<D>,
  { now, newId, root }: { now(): number; newId(): string; root: string },
): boolean {
  // Checked outside of a transaction: most polls find nothing.
  if (queue.cursor() >= deltas.newest()) return false;
  return transact(() => {
    const cursor = queue.cursor();
    const newest = deltas.newest();
    const batch = deltas.after(cursor, BATCH);
    const webhooks = new Map<string, { alert: MatchedAlert; changes: D[] }>();
    for (const delta of batch) {
      for (const alert of queue.alertsFor(delta.domain, delta.at, delta.signal)) {
        if (alert.way !== 'webhook') {
          queue.notice(alert.account, alert.way, delta);
          continue;
        }
        const matched = webhooks.get(alert.id) ?? { alert, changes: [] };
        webhooks.set(alert.id, matched);
        if (matched.changes.at(-1)?.seq !== delta.seq) matched.changes.push(delta);
      }
    }
    const made_at = now();
    for (const { alert, changes } of webhooks.values()) {
      // A PagerDuty event is about one hostname.
      const of = alert.format === 'pagerduty' ? Map.groupBy(changes, ({ domain }) => domain).values() : [changes];
      for (const together of of) {
        for (let at = 0; at < together.length; at += CHANGES_MAX) {
          const some = together.slice(at, at + CHANGES_MAX);
          const items = some.map((delta) => ({ hostname: delta.domain, line: deltas.line(delta), at: delta.at }));
          const data = { changes: some.map((delta) => deltas.row(delta)) };
          queueEvent(
            queue,
            alert,
            { type: 'domain.changed', data, message: changeMessage(items) },
            { made_at, newId, root },
          );
        }
      }
    }
    // The batch omits hidden deltas, so a batch that is not full has reached the newest delta.
    const reached = batch.length < BATCH ? newest : (batch.at(-1)?.seq ?? newest);
    queue.setCursor(Math.max(cursor, reached));
    return reached < newest;
  });
}

/** Queues an event for a webhook, in the webhook's format. `by_hand`: one attempt, no retries. */
export function queueEvent(
  queue: Pick<ChangeQueueTable, 'deliver'>,
  alert: Pick<MatchedAlert, 'id' | 'url' | 'format' | 'routing_key'>,
  event: AlertEvent,
  { made_at, newId, root, by_hand = false }: { made_at: number; newId(): string; root: string; by_hand?: boolean },
): void {
  const id = newId();
  const body = alertBody({ ...alert, root }, event, { id, at: made_at });
  const incident = (alert.format === 'pagerduty' ? event.message.incident?.key : undefined) ?? null;
  const host = hostOf(alert.url ?? '');
  queue.deliver({ alert: alert.id, host, id, type: event.type, body, by_hand, made_at, incident });
}

/** A test still waiting is searched for among this many of the newest deliveries. */
const WAITING_LOOKED_AT = 50;
/** The minimum interval between two test mails to one account, in ms. */
const TEST_MAIL_EVERY = MINUTE;

interface TestStore {
  changeQueue: ChangeQueueTable;
  changeAlerts: ChangeAlertTable;
  accountMails: AccountMailTable;
  accounts: AccountTable;
}

/**
 * Queues a test of an alert: one immediate attempt at its webhook, or a mail. `now` is in ms. Throws `conflict` while an
 * earlier test waits (a webhook may be at any host), and within a minute of the last test mail.
 */
export function queueAlertTest(
  tables: TestStore,
  alert: Pick<ChangeAlert, 'id' | 'account' | 'url' | 'format' | 'routing_key'>,
  fresh: { now: number; newId(): string; root: string },
): void {
  if (alert.url === null) return queueMailTest(tables, alert.account, fresh);
  if (queueWebhookTest(tables, alert, fresh)) return;
  throw new Fault(
    'conflict',
    `a test of alert ${alert.id} is waiting to be delivered; GET shows its result afterwards`,
  );
}

function queueMailTest(
  { accountMails, accounts }: TestStore,
  account: string,
  { now, newId }: { now: number; newId(): string },
): void {
  const last = accountMails.ofAccount(account).findLast(({ kind }) => kind === 'test');
  if (last !== undefined && (last.state === 'due' || (last.settled_at ?? 0) > now - TEST_MAIL_EVERY)) {
    throw new Fault('conflict', 'a test mail is on its way, or was sent within the last minute; check your mail');
  }
  const email = accounts.find(account)?.email;
  if (email !== undefined) accountMails.queue({ id: newId(), account, email, kind: 'test', due_at: now });
}

function queueWebhookTest(
  { changeQueue, changeAlerts }: TestStore,
  alert: Pick<ChangeAlert, 'id' | 'url' | 'format' | 'routing_key'>,
  { now, newId, root }: { now: number; newId(): string; root: string },
): boolean {
  const type = 'webhook.test';
  const newest = changeAlerts.deliveries(alert.id, WAITING_LOOKED_AT);
  if (newest.some((delivery) => delivery.type === type && delivery.state === 'waiting')) return false;
  const event = { type, data: { alert: alert.id }, message: TEST_MESSAGE };
  queueEvent(changeQueue, alert, event, { made_at: now, newId, root, by_hand: true });
  return true;
}

/**
 * Queues mails of the recorded changes: instant ones once the previous mail is some minutes old, daily ones after the
 * end of the UTC day. After a long downtime each account gets one mail.
 */
export function queueChangeMails(
  {
    changeQueue: queue,
    expectations,
    accountMails,
    accounts,
    transact,
  }: ChangeStore & {
    expectations: Pick<ExpectationTable, 'due' | 'gather'>;
    accountMails: AccountMailTable;
    accounts: AccountTable;
  },
  { now, newId }: { now(): number; newId(): string },
): void {
  const at = now();
  const today = Math.floor(at / DAY) * DAY;
  const ways = [
    { way: 'instant', kind: 'changes', before: Number.MAX_SAFE_INTEGER, notSince: at - MAIL_EVERY },
    { way: 'daily', kind: 'digest', before: today, notSince: today - 1 },
  ] as const;
  for (const { way, kind, before, notSince } of ways) {
    const due = (limit: number) =>
      new Set([queue, expectations].flatMap((table) => table.due(way, before, notSince, limit)));
    if (due(1).size === 0) continue;
    transact(() => {
      for (const account of due(ACCOUNTS)) {
        const id = newId();
        for (const table of [queue, expectations]) table.gather(account, way, before, id, at);
        const email = accounts.find(account)?.email;
        if (email !== undefined) accountMails.queue({ id, account, email, kind, due_at: at });
      }
    });
  }
}
