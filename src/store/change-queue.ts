import type { ChangeQueueTable, ToldAlert } from '../accounts/change-queue.ts';
import type { Change, Delta } from '../records/delta.ts';
import type { Db } from './open.ts';

interface ToldRow extends Omit<Delta, 'before' | 'after' | 'domain' | 'kind'> {
  hostname: string;
  kind: Change['kind'];
  before: string;
  after: string;
}

/** Changes that wait to be told, and the mark up to which they were looked through. */
export function changeQueueTable(db: Db) {
  const mark = db.prepare('SELECT seq FROM change_mark');
  const setMark = db.prepare('UPDATE change_mark SET seq = ?');
  const alertsFor = db.prepare(
    `SELECT id, account, way, url FROM change_alerts
     WHERE id IN (
       SELECT id FROM change_alerts WHERE hostname = ?1
       UNION SELECT a.id FROM watch_group_hosts h JOIN change_alerts a ON a.watch_group = h.watch_group
         WHERE h.hostname = ?1)
       AND off_at IS NULL AND made_at <= ?2
     ORDER BY way = 'daily', id`,
  );
  const notice = db.prepare(
    'INSERT INTO change_notices (account, delta, way, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const deliver = db.prepare(
    `INSERT INTO change_deliveries (id, alert, type, body, host, state, due_at, by_hand, made_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 'waiting', ?7, ?6, ?7)`,
  );
  const owed = db.prepare(
    `SELECT DISTINCT account FROM change_notices n
     WHERE mail IS NULL AND way = ?1 AND at < ?2
       AND NOT EXISTS (SELECT 1 FROM change_paces p WHERE p.account = n.account AND p.way = ?1 AND p.at > ?3)
     LIMIT ?4`,
  );
  const gather = db.prepare(
    'UPDATE change_notices SET mail = ?4 WHERE mail IS NULL AND way = ?2 AND account = ?1 AND at < ?3',
  );
  const pace = db.prepare(
    'INSERT INTO change_paces VALUES (?, ?, ?) ON CONFLICT (account, way) DO UPDATE SET at = excluded.at',
  );
  const forgetNotices = db.prepare('DELETE FROM change_notices WHERE at <= ?');
  const forgetDeliveries = db.prepare("DELETE FROM change_deliveries WHERE made_at <= ? AND state <> 'waiting'");
  const toldBy = db.prepare(
    `SELECT d.seq, d.at, h.hostname, d.signal, d.kind, d."before", d."after", d.observation AS observation_seq
     FROM change_notices n CROSS JOIN deltas d ON d.seq = n.delta CROSS JOIN hostnames h ON h.id = d.host
     WHERE n.mail = ? AND h.state <> 'opted_out' ORDER BY h.hostname, d.seq`,
  );
  const table: ChangeQueueTable = {
    mark: () => (mark.all() as { seq: number }[])[0]?.seq ?? 0,
    setMark(seq) {
      setMark.run(seq);
    },
    alertsFor: (hostname, at) => alertsFor.all(hostname, at) as ToldAlert[],
    notice(account, way, { seq, at }) {
      notice.run(account, seq, way, at);
    },
    deliver({ id, alert, type, body, host, by_hand, made_at }) {
      deliver.run(id, alert, type, body, host, by_hand ? 1 : 0, made_at);
    },
    owed: (way, before, notSince, limit) =>
      (owed.all(way, before, notSince, limit) as { account: string }[]).map(({ account }) => account),
    gather(account, way, before, mail, at) {
      gather.run(account, way, before, mail);
      pace.run(account, way, at);
    },
    forget(until) {
      forgetNotices.run(until);
      forgetDeliveries.run(until);
    },
  };
  return {
    ...table,
    /** The changes that a mail tells, by hostname, oldest first; those of hosts that opted out since are not among them. */
    toldBy: (mail: string): Delta[] =>
      (toldBy.all(mail) as ToldRow[]).map(({ hostname, before, after, ...row }) => ({
        ...row,
        domain: hostname,
        before: JSON.parse(before) as string[],
        after: JSON.parse(after) as string[],
      })),
  };
}
