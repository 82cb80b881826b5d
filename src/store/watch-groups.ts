import type { WatchGroup, WatchGroupTable } from '../accounts/watch-group.ts';
import type { Db } from './open.ts';

/** Groups of hostnames that accounts watch. */
export function watchGroupTable(db: Db): WatchGroupTable {
  const add = db.prepare('INSERT INTO watch_groups (id, account, name, made_at) VALUES (?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM watch_groups WHERE account = ? AND id = ?');
  const get = db.prepare('SELECT id, account, name, made_at FROM watch_groups WHERE account = ? AND id = ?');
  const list = db.prepare(
    `SELECT id, account, name, made_at,
       (SELECT count(*) FROM watch_group_hosts h WHERE h.watch_group = g.id) AS hosts
     FROM watch_groups g WHERE account = ? ORDER BY name, id`,
  );
  const put = db.prepare(
    'INSERT INTO watch_group_hosts (watch_group, hostname, added_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const take = db.prepare('DELETE FROM watch_group_hosts WHERE watch_group = ? AND hostname = ?');
  const hosts = db.prepare('SELECT hostname, added_at FROM watch_group_hosts WHERE watch_group = ? ORDER BY hostname');
  const hostsOf = db.prepare(
    `SELECT DISTINCT hostname FROM watch_group_hosts
     WHERE watch_group IN (SELECT id FROM watch_groups WHERE account = ?) ORDER BY hostname`,
  );
  return {
    add({ id, account, name, made_at }) {
      add.run(id, account, name, made_at);
    },
    remove: (account, id) => remove.run(account, id).changes === 1,
    get: (account, id) => (get.all(account, id) as WatchGroup[])[0] ?? null,
    list: (account) => list.all(account) as (WatchGroup & { hosts: number })[],
    put: (group, hostname, at) => put.run(group, hostname, at).changes === 1,
    take: (group, hostname) => take.run(group, hostname).changes === 1,
    hosts: (group) => hosts.all(group) as { hostname: string; added_at: number }[],
    hostsOf: (account) => (hostsOf.all(account) as { hostname: string }[]).map(({ hostname }) => hostname),
  };
}
