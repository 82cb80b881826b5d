import { ALERT_WAYS } from '../accounts/change-alert.ts';
import type { ChangeQueueTable } from '../accounts/change-queue.ts';
import type { Delta } from '../records/delta.ts';
import { integer, oneOf, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { DELTA, DELTA_COLUMNS } from './records-deltas.ts';
import { sql } from './sql.ts';

export interface ChangeQueue extends ChangeQueueTable {
  /** The changes that a mail reports, by hostname, oldest first, without hosts that have opted out since. */
  changesIn(mail: string): Delta[];
}

/** Changes to report, and the mark up to which they were processed. */
export function changeQueueTable(db: Db): ChangeQueue {
  const { run, one, all } = sql(db);
  const mark = one('SELECT seq FROM change_mark', integer);
  const notice = run('INSERT INTO change_notices (account, delta, way, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
  const deliver = run(
    `INSERT INTO change_deliveries (id, alert, type, body, host, state, due_at, by_hand, made_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 'waiting', ?7, ?6, ?7)`,
  );
  const gather = run(
    'UPDATE change_notices SET mail = ?4 WHERE mail IS NULL AND way = ?2 AND account = ?1 AND at < ?3',
  );
  const pace = run(
    'INSERT INTO change_paces VALUES (?, ?, ?) ON CONFLICT (account, way) DO UPDATE SET at = excluded.at',
  );
  const forgetNotices = run('DELETE FROM change_notices WHERE at <= ?');
  const forgetDeliveries = run("DELETE FROM change_deliveries WHERE made_at <= ? AND state <> 'waiting'");
  return {
    mark: () => mark() ?? 0,
    setMark: run('UPDATE change_mark SET seq = ?'),
    alertsFor: all(
      `SELECT id, account, way, url FROM change_alerts
       WHERE id IN (
         SELECT id FROM change_alerts WHERE hostname = ?1
         UNION SELECT a.id FROM watch_group_hosts h JOIN change_alerts a ON a.watch_group = h.watch_group
           WHERE h.hostname = ?1)
         AND off_at IS NULL AND made_at <= ?2
       ORDER BY way = 'daily', id`,
      { id: text, account: text, way: oneOf(...ALERT_WAYS), url: orNull(text) },
    ),
    notice(account, way, { seq, at }) {
      notice(account, seq, way, at);
    },
    deliver({ id, alert, type, body, host, by_hand, made_at }) {
      deliver(id, alert, type, body, host, by_hand ? 1 : 0, made_at);
    },
    due: all(
      `SELECT DISTINCT account FROM change_notices n
       WHERE mail IS NULL AND way = ?1 AND at < ?2
         AND NOT EXISTS (SELECT 1 FROM change_paces p WHERE p.account = n.account AND p.way = ?1 AND p.at > ?3)
       LIMIT ?4`,
      text,
    ),
    gather(account, way, before, mail, at) {
      gather(account, way, before, mail);
      pace(account, way, at);
    },
    forget(until) {
      forgetNotices(until);
      forgetDeliveries(until);
    },
    changesIn: all(
      `SELECT ${DELTA_COLUMNS}
       FROM change_notices n CROSS JOIN deltas d ON d.seq = n.delta CROSS JOIN hostnames h ON h.id = d.host
       WHERE n.mail = ? AND h.state <> 'opted_out' ORDER BY h.hostname, d.seq`,
      DELTA,
    ),
  };
}
