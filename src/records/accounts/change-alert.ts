import { timingSafeEqual } from 'node:crypto';
import { isoTime } from '../../proof/time.ts';
import { linkToken } from '../../shared/access-key.ts';
import { Fault } from '../../shared/fault.ts';
import { newWebhookSecret, webhookProblem } from '../../shared/outbound/webhook-url.ts';
import type { Account, AccountTable } from './account.ts';
import { type AlertFormat, formatOfHost, PAGERDUTY_URL, ROUTING_KEY } from './alert-body.ts';
import type { WatchGroupTable } from './watching.ts';

/** How an account learns of changes: by mail as they happen or once a day, or by webhook. */
export const ALERT_WAYS = ['instant', 'daily', 'webhook'] as const;
export type AlertWay = (typeof ALERT_WAYS)[number];

/**
 * The receiver is gone (410) or failed for days or, for mails, the reader unsubscribed or the mailbox does not exist.
 */
type AlertOff = 'gone' | 'failing' | 'unsubscribed' | 'bounced';

/** Sends changes to an account. Times in ms. */
export interface ChangeAlert {
  id: string;
  account: string;
  watch_group: string | null;
  hostname: string | null;
  way: AlertWay;
  /** A webhook's address and `whsec_…`; null for mails. */
  url: string | null;
  secret: string | null;
  /** How a webhook's requests look. */
  format: AlertFormat;
  /** The integration key of PagerDuty; null for other formats. */
  routing_key: string | null;
  made_at: number;
}

/** An alert's health. Times in ms. */
export interface AlertState {
  /** When its account paused it; null while it is not paused. */
  paused_at: number | null;
  failing_since: number | null;
  off_at: number | null;
  off_reason: AlertOff | null;
}

/** A delivery to a webhook, as its log shows it. Times in ms. */
interface AlertDelivery {
  id: string;
  type: string;
  state: 'waiting' | 'delivered' | 'failed';
  made_at: number;
  due_at: number;
  attempts: { at: number; ms: number; status: number | null; error: string | null }[];
}

export interface ChangeAlertTable {
  add(alert: ChangeAlert): void;
  remove(account: string, id: string): boolean;
  get(account: string, id: string): (ChangeAlert & AlertState) | null;
  list(account: string): (ChangeAlert & AlertState)[];
  /** Switches a paused or disabled alert on, for changes recorded at or after `at`. */
  switchOn(account: string, id: string, at: number): void;
  /** Pauses an alert: changes recorded at or after `at` are not queued for it. */
  pause(account: string, id: string, at: number): void;
  /** Replaces the secret of a webhook. False when the account has no such webhook. */
  setSecret(account: string, id: string, secret: string): boolean;
  /** Switches off every mail alert of an account; returns how many there were. */
  mailsOff(account: string, reason: AlertOff, at: number): number;
  /** Newest first. */
  deliveries(alert: string, limit: number): AlertDelivery[];
  /** Has a delivery sent again at once, unless it is being sent now. False when the alert has no such delivery. */
  sendAgain(alert: string, delivery: string, now: number): boolean;
}

export const ALERTS_MAX = 100;

interface AlertRequest {
  group: string;
  hostname: string;
  way: AlertWay;
  /** '' except for a webhook; for PagerDuty it may be '' too. */
  url: string;
  /** '' chooses the format by the address's host. */
  format?: AlertFormat | '';
  /** '' except for PagerDuty. */
  routing_key?: string;
}

/** The inputs of a new alert besides its settings: the time in ms, ids, and whether receivers may be private. */
interface Fresh {
  now: number;
  newId(): string;
  allowsPrivate: boolean;
  /** Normalizes a hostname that is watched and visible. Throws `invalid_request`, `not_found`, `not_watched`. */
  requireHost(text: string): string;
}

/**
 * Makes an alert. A webhook's secret is returned only here. Throws `invalid_request`, `not_found`, `not_watched`,
 * `conflict`.
 */
export function makeAlert(
  {
    changeAlerts,
    watchGroups,
    transact,
  }: { changeAlerts: ChangeAlertTable; watchGroups: WatchGroupTable; transact<T>(work: () => T): T },
  account: string,
  { group, hostname, way, url: given, format: asked = '', routing_key = '' }: AlertRequest,
  { now, newId, allowsPrivate, requireHost }: Fresh,
): ChangeAlert {
  if ((group === '') === (hostname === '')) {
    throw new Fault('invalid_request', 'an alert is of a group or of one hostname: choose the one or give the other', {
      field: 'hostname',
    });
  }
  if (group !== '' && watchGroups.get(account, group) === null) {
    throw new Fault('not_found', 'your account has no such group; choose one of those that it has', { field: 'group' });
  }
  const host = hostname === '' ? null : requireHost(hostname);
  const isWebhook = way === 'webhook';
  const url = given === '' && asked === 'pagerduty' ? PAGERDUTY_URL : given;
  const format = isWebhook ? asked || formatOfHost(url) : 'standard';
  const problem = isWebhook ? webhookProblem(url, allowsPrivate) : null;
  if (problem !== null) {
    const message = `url: ${JSON.stringify(url.slice(0, 80))} ${problem}; give an https address on a public host`;
    throw new Fault('invalid_request', message, { field: 'url' });
  }
  assertRoutingKey(format, routing_key);
  const alert: ChangeAlert = {
    id: newId(),
    account,
    watch_group: group === '' ? null : group,
    hostname: host,
    way,
    url: isWebhook ? new URL(url).href : null,
    secret: isWebhook ? newWebhookSecret() : null,
    format,
    routing_key: format === 'pagerduty' ? routing_key : null,
    made_at: now,
  };
  return transact(() => {
    const alerts = changeAlerts.list(account);
    if (alerts.length >= ALERTS_MAX) {
      throw new Fault('conflict', `the account has ${ALERTS_MAX} alerts, which is the maximum; remove one first`);
    }
    if (alerts.some((other) => isSame(other, alert))) {
      throw new Fault('conflict', 'there is such an alert already; the list below has it');
    }
    changeAlerts.add(alert);
    return alert;
  });
}

/** PagerDuty requires a routing key; other formats must have none. Error messages never repeat the key. */
function assertRoutingKey(format: AlertFormat, key: string): void {
  if (format === 'pagerduty' ? ROUTING_KEY.test(key) : key === '') return;
  const message =
    format === 'pagerduty'
      ? 'routing_key: must be the 32 letters and digits of an Events API v2 integration; PagerDuty shows them under Integrations of a service'
      : 'routing_key: only the format pagerduty has one; leave it out';
  throw new Fault('invalid_request', message, { field: 'routing_key' });
}

/** An alert of an account. Throws `not_found`. */
export function requireAlert(alerts: ChangeAlertTable, account: string, id: string): ChangeAlert & AlertState {
  const alert = alerts.get(account, id);
  if (alert !== null) return alert;
  throw new Fault('not_found', 'your account has no such alert; /account/alerts lists those that it has');
}

/** Gives a webhook another secret, at once. Only this call returns it. Throws `not_found`, `conflict`. */
export function renewSecret(alerts: ChangeAlertTable, account: string, id: string): string {
  const secret = newWebhookSecret();
  if (requireAlert(alerts, account, id).way !== 'webhook' || !alerts.setSecret(account, id, secret)) {
    throw new Fault('conflict', `alert ${id} sends mails; only webhooks have a secret`);
  }
  return secret;
}

/** Has a delivery of a webhook sent again, at once. `now` is in ms. Throws `not_found`. */
export function sendAgain(alerts: ChangeAlertTable, alert: string, delivery: string, now: number): void {
  if (alerts.sendAgain(alert, delivery, now)) return;
  const message = `this alert has no delivery ${JSON.stringify(delivery.slice(0, 80))}; its log lists those of the last 35 days`;
  throw new Fault('not_found', message);
}

/** Whether an alert gets the changes of its hostnames. */
export function isAlertOn({ paused_at, off_at }: Pick<AlertState, 'paused_at' | 'off_at'>): boolean {
  return paused_at === null && off_at === null;
}

function isSame(a: ChangeAlert, b: ChangeAlert): boolean {
  return a.watch_group === b.watch_group && a.hostname === b.hostname && a.way === b.way && a.url === b.url;
}

/** The account of an unsubscribe link. `secret` is the key of mailed links. Throws `not_found`. */
export function toUnsubscribe(accounts: AccountTable, secret: Uint8Array, account: string, token: string): Account {
  const [wanted, given] = [Buffer.from(linkToken(secret, 'unsubscribe', account)), Buffer.from(token)];
  const isRight = wanted.length === given.length && timingSafeEqual(wanted, given);
  const found = isRight ? accounts.find(account) : null;
  if (found !== null) return found;
  throw new Fault('not_found', 'this link does not unsubscribe; use the one at the foot of a newer mail');
}

export function alertDeliveryRow({ id, type, state, made_at, due_at, attempts }: AlertDelivery) {
  return {
    ...{ id, type, state },
    made_at: isoTime(made_at),
    due_at: isoTime(due_at),
    attempts: attempts.map(({ at, ms, status, error }) => ({
      at: isoTime(at),
      ms,
      outcome: [status, error].filter((part) => part !== null).join(' '),
    })),
  };
}
