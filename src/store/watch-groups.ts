import type { WatchGroupTable } from '../accounts/watch-group.ts';
import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const GROUP = { id: text, account: text, name: text, made_at: integer };

/** Groups of hostnames that accounts watch. */
export function watchGroupTable(db: Db): WatchGroupTable {
  const { run, one, all } = sql(db);
  const add = run('INSERT INTO watch_groups (id, account, name, made_at) VALUES (?, ?, ?, ?)');
  const remove = run('DELETE FROM watch_groups WHERE account = ? AND id = ?');
  const put = run(
    'INSERT INTO watch_group_hosts (watch_group, hostname, added_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const take = run('DELETE FROM watch_group_hosts WHERE watch_group = ? AND hostname = ?');
  return {
    add({ id, account, name, made_at }) {
      add(id, account, name, made_at);
    },
    remove: (account, id) => remove(account, id) === 1,
    get: one('SELECT id, account, name, made_at FROM watch_groups WHERE account = ? AND id = ?', GROUP),
    list: all(
      `SELECT id, account, name, made_at,
         (SELECT count(*) FROM watch_group_hosts h WHERE h.watch_group = g.id) AS hosts
       FROM watch_groups g WHERE account = ? ORDER BY name, id`,
      { ...GROUP, hosts: integer },
    ),
    put: (group, hostname, at) => put(group, hostname, at) === 1,
    take: (group, hostname) => take(group, hostname) === 1,
    hosts: all('SELECT hostname, added_at FROM watch_group_hosts WHERE watch_group = ? ORDER BY hostname', {
      hostname: text,
      added_at: integer,
    }),
    hostsOf: all(
      `SELECT DISTINCT hostname FROM watch_group_hosts
       WHERE watch_group IN (SELECT id FROM watch_groups WHERE account = ?) ORDER BY hostname`,
      text,
    ),
  };
}
