import type { AlertDelivery, AlertState, ChangeAlert, ChangeAlertTable } from '../accounts/change-alert.ts';
import type { Db } from './open.ts';

const COLUMNS = `id, account, watch_group, hostname, way, url, secret, made_at, failing_since, off_at, off_reason`;

type Row = ChangeAlert & AlertState;

/** Who is told of changes. */
export function changeAlertTable(db: Db): ChangeAlertTable {
  const add = db.prepare(
    `INSERT INTO change_alerts (id, account, watch_group, hostname, way, url, secret, made_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const remove = db.prepare('DELETE FROM change_alerts WHERE account = ? AND id = ?');
  const get = db.prepare(`SELECT ${COLUMNS} FROM change_alerts WHERE account = ? AND id = ?`);
  const list = db.prepare(`SELECT ${COLUMNS} FROM change_alerts WHERE account = ? ORDER BY id`);
  const switchOn = db.prepare(
    'UPDATE change_alerts SET failing_since = NULL, off_at = NULL, off_reason = NULL WHERE account = ? AND id = ?',
  );
  const mailsOff = db.prepare(
    "UPDATE change_alerts SET off_at = ?3, off_reason = ?2 WHERE account = ?1 AND way <> 'webhook' AND off_at IS NULL",
  );
  const deliveries = db.prepare(
    'SELECT id, type, state, made_at, due_at FROM change_deliveries WHERE alert = ? ORDER BY id DESC LIMIT ?',
  );
  const attempts = db.prepare('SELECT at, ms, status, error FROM change_attempts WHERE delivery = ? ORDER BY n');
  return {
    add({ id, account, watch_group, hostname, way, url, secret, made_at }) {
      add.run(id, account, watch_group, hostname, way, url, secret, made_at);
    },
    remove: (account, id) => remove.run(account, id).changes === 1,
    get: (account, id) => (get.all(account, id) as Row[])[0] ?? null,
    list: (account) => list.all(account) as Row[],
    switchOn(account, id) {
      switchOn.run(account, id);
    },
    mailsOff: (account, reason, at) => mailsOff.run(account, reason, at).changes,
    deliveries: (alert, limit) =>
      (deliveries.all(alert, limit) as Omit<AlertDelivery, 'attempts'>[]).map((row) => ({
        ...row,
        attempts: attempts.all(row.id) as AlertDelivery['attempts'],
      })),
  };
}
