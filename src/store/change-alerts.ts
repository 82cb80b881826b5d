import type { ChangeAlertTable } from '../accounts/change-alert.ts';
import { ALERT_WAYS } from '../accounts/change-alert.ts';
import { DELIVERY_STATES } from '../outbound/delivery.ts';
import { integer, oneOf, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const ALERT = {
  id: text,
  account: text,
  watch_group: orNull(text),
  hostname: orNull(text),
  way: oneOf(...ALERT_WAYS),
  url: orNull(text),
  secret: orNull(text),
  made_at: integer,
  failing_since: orNull(integer),
  off_at: orNull(integer),
  off_reason: orNull(oneOf('gone', 'failing', 'unsubscribed', 'bounced')),
};
const COLUMNS = Object.keys(ALERT).join(', ');

/** Accounts' alerts of changes. */
export function changeAlertTable(db: Db): ChangeAlertTable {
  const { run, one, all } = sql(db);
  const add = run(
    `INSERT INTO change_alerts (id, account, watch_group, hostname, way, url, secret, made_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const remove = run('DELETE FROM change_alerts WHERE account = ? AND id = ?');
  const deliveries = all(
    'SELECT id, type, state, made_at, due_at FROM change_deliveries WHERE alert = ? ORDER BY id DESC LIMIT ?',
    { id: text, type: text, state: oneOf(...DELIVERY_STATES), made_at: integer, due_at: integer },
  );
  const attempts = all('SELECT at, ms, status, error FROM change_attempts WHERE delivery = ? ORDER BY n', {
    at: integer,
    ms: integer,
    status: orNull(integer),
    error: orNull(text),
  });
  return {
    add({ id, account, watch_group, hostname, way, url, secret, made_at }) {
      add(id, account, watch_group, hostname, way, url, secret, made_at);
    },
    remove: (account, id) => remove(account, id) === 1,
    get: one(`SELECT ${COLUMNS} FROM change_alerts WHERE account = ? AND id = ?`, ALERT),
    list: all(`SELECT ${COLUMNS} FROM change_alerts WHERE account = ? ORDER BY id`, ALERT),
    switchOn: run(
      'UPDATE change_alerts SET failing_since = NULL, off_at = NULL, off_reason = NULL WHERE account = ? AND id = ?',
    ),
    mailsOff: run(
      "UPDATE change_alerts SET off_at = ?3, off_reason = ?2 WHERE account = ?1 AND way <> 'webhook' AND off_at IS NULL",
    ),
    deliveries: (alert, limit) => deliveries(alert, limit).map((row) => ({ ...row, attempts: attempts(row.id) })),
  };
}
