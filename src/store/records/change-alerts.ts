import { ALERT_FORMATS } from '../../records/accounts/alert-body.ts';
import { ALERT_WAYS, type ChangeAlertTable } from '../../records/accounts/change-alert.ts';
import type { ChangeQueueTable } from '../../records/accounts/change-queue.ts';
import type { Delta } from '../../records/delta.ts';
import {
  type Attempt,
  DELIVERY_STATES,
  type DeliveryJob,
  type DeliveryQueue,
  type WebhookStates,
} from '../../shared/outbound/delivery.ts';
import { columnsOf, type Db, flag, integer, oneOf, orNull, sql, text } from '../../shared/sql/sql.ts';
import { deliveryQueue, JOB } from '../deliveries.ts';
import { noticeTable } from './notices.ts';
import { DELTA, DELTA_COLUMNS, deltaOf } from './records-deltas.ts';

const SETTINGS = {
  id: text,
  account: text,
  watch_group: orNull(text),
  hostname: orNull(text),
  way: oneOf(...ALERT_WAYS),
  url: orNull(text),
  secret: orNull(text),
  format: oneOf(...ALERT_FORMATS),
  routing_key: orNull(text),
  made_at: integer,
};
const ALERT = {
  ...SETTINGS,
  paused_at: orNull(integer),
  failing_since: orNull(integer),
  off_at: orNull(integer),
  off_reason: orNull(oneOf('gone', 'failing', 'unsubscribed', 'bounced')),
};
const ALERTS = `SELECT ${columnsOf(ALERT)} FROM change_alerts WHERE account = ?`;

/** Accounts' alerts of changes. */
export function changeAlertTable(db: Db): ChangeAlertTable {
  const { run, changed, insert, one, all, has } = sql(db);
  const deliveries = all(
    'SELECT id, type, state, made_at, due_at FROM change_deliveries WHERE alert = ? ORDER BY id DESC LIMIT ?',
    { id: text, type: text, state: oneOf(...DELIVERY_STATES), made_at: integer, due_at: integer },
  );
  const attempts = all(
    `SELECT delivery, at, ms, status, error FROM change_attempts
     WHERE delivery IN (SELECT value FROM json_each(?)) ORDER BY n`,
    { delivery: text, at: integer, ms: integer, status: orNull(integer), error: orNull(text) },
  );
  const resend = run(
    `UPDATE change_deliveries
     SET by_hand = by_hand OR state <> 'waiting', state = 'waiting', due_at = ?3, lease = NULL
     WHERE alert = ?1 AND id = ?2 AND (lease IS NULL OR lease <= ?3)`,
  );
  const known = has('SELECT 1 FROM change_deliveries WHERE alert = ? AND id = ?');
  return {
    add: insert('change_alerts', SETTINGS),
    remove: changed('DELETE FROM change_alerts WHERE account = ? AND id = ?'),
    get: one(`${ALERTS} AND id = ?`, ALERT),
    list: all(`${ALERTS} ORDER BY id`, ALERT),
    switchOn: run(
      `UPDATE change_alerts SET on_since = ?3, paused_at = NULL, failing_since = NULL, off_at = NULL, off_reason = NULL
       WHERE account = ?1 AND id = ?2`,
    ),
    pause: run('UPDATE change_alerts SET paused_at = coalesce(paused_at, ?3) WHERE account = ?1 AND id = ?2'),
    setSecret: changed("UPDATE change_alerts SET secret = ?3 WHERE account = ?1 AND id = ?2 AND way = 'webhook'"),
    sendAgain: (alert, delivery, now) => {
      if (!known(alert, delivery)) return false;
      resend(alert, delivery, now);
      return true;
    },
    mailsOff: run(
      "UPDATE change_alerts SET off_at = ?3, off_reason = ?2 WHERE account = ?1 AND way <> 'webhook' AND off_at IS NULL",
    ),
    deliveries: (alert, limit) => {
      const rows = deliveries(alert, limit).map((row) => ({ ...row, attempts: [] as Attempt[] }));
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const { delivery, ...attempt } of attempts(JSON.stringify([...byId.keys()])))
        byId.get(delivery)?.attempts.push(attempt);
      return rows;
    },
  };
}

/** Changes to report, and the number up to which they were processed. */
export function changeQueueTable(db: Db) {
  const { run, insert, number, all } = sql(db);
  const notice = run('INSERT INTO change_notices (account, delta, way, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const deliver = insert('change_deliveries', [
    'id',
    'alert',
    'type',
    'body',
    'host',
    'state',
    'due_at',
    'by_hand',
    'made_at',
    'incident',
  ]);
  const forgetNotices = run('DELETE FROM change_notices WHERE at <= ?');
  const forgetDeliveries = run("DELETE FROM change_deliveries WHERE made_at <= ? AND state <> 'waiting'");
  const queue: ChangeQueueTable = {
    cursor: number('SELECT seq FROM change_mark'),
    setCursor: run('UPDATE change_mark SET seq = ?'),
    alertsFor: all(
      `SELECT id, account, way, url, format, routing_key FROM change_alerts
       WHERE id IN (
         SELECT id FROM change_alerts WHERE hostname = ?1
         UNION SELECT a.id FROM watch_group_hosts h JOIN change_alerts a ON a.watch_group = h.watch_group
           WHERE h.hostname = ?1)
         AND NOT EXISTS (SELECT 1 FROM expectations e
           WHERE e.account = change_alerts.account AND e.hostname = ?1 AND e.signal = ?3
             AND e.state <> 'unknown')
         AND off_at IS NULL AND (paused_at IS NULL OR paused_at > ?2) AND coalesce(on_since, made_at) <= ?2
       ORDER BY way = 'daily', id`,
      {
        id: text,
        account: text,
        way: oneOf(...ALERT_WAYS),
        url: orNull(text),
        format: oneOf(...ALERT_FORMATS),
        routing_key: orNull(text),
      },
    ),
    notice: (account, way, { seq, at }) => void notice(account, seq, way, at),
    deliver: (delivery) => void deliver({ ...delivery, state: 'waiting', due_at: delivery.made_at }),
    ...noticeTable(db, 'change_notices'),
    forget(until) {
      forgetNotices(until);
      forgetDeliveries(until);
    },
  };
  /** The changes in a mail, by hostname, oldest first, without hosts that have opted out since. */
  const changesIn: (mail: string) => Delta[] = all(
    `SELECT ${DELTA_COLUMNS}
     FROM change_notices n CROSS JOIN deltas d ON d.seq = n.delta CROSS JOIN hostnames h ON h.id = d.host
     WHERE n.mail = ? AND h.state <> 'opted_out' ORDER BY h.hostname, d.seq`,
    DELTA,
    deltaOf,
  );
  return { ...queue, changesIn };
}

/** Deliveries to the webhooks of accounts, for the shared dispatcher. */
export function changeDeliveryTable(db: Db): DeliveryQueue<DeliveryJob> {
  const jobsOf = sql(db).all(
    `SELECT d.id, d.id AS message, d.type, d.body, d.alert AS webhook, d.host, a.url, a.secret, d.tries,
       d.by_hand, d.lease
     FROM change_deliveries d JOIN change_alerts a ON a.id = d.alert
     WHERE d.id IN (SELECT value FROM json_each(?)) ORDER BY d.id`,
    JOB,
  );
  const tables = { deliveries: 'change_deliveries', attempts: 'change_attempts', webhook: 'alert' };
  const waitsForNone = `incident IS NULL OR NOT EXISTS (
    SELECT 1 FROM change_deliveries o
    WHERE o.alert = d.alert AND o.incident = d.incident AND o.state = 'waiting' AND o.rowid < d.rowid)`;
  return deliveryQueue(db, { ...tables, isReady: waitsForNone }, jobsOf);
}

/** The state of accounts' webhooks. An address never changes: another address is another alert. */
export function changeWebhookStates(db: Db): WebhookStates {
  const { run, one } = sql(db);
  const failed = one(
    `UPDATE change_alerts SET failing_since = coalesce(failing_since, ?2) WHERE id = ?1
     RETURNING failing_since AS since, off_at IS NOT NULL AS isOff`,
    { since: integer, isOff: flag },
  );
  const succeeded = run(
    'UPDATE change_alerts SET failing_since = NULL, off_at = NULL, off_reason = NULL WHERE id = ? AND (failing_since IS NOT NULL OR off_at IS NOT NULL)',
  );
  const switchOff = run('UPDATE change_alerts SET off_at = ?3, off_reason = ?2 WHERE id = ?1');
  return {
    succeeded: (id) => void succeeded(id),
    failed: (id, _, at) => failed(id, at) ?? { since: at, isOff: false },
    switchOff: (id, _, reason, at) => void switchOff(id, reason, at),
  };
}
