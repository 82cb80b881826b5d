import type { WatchGroupTable } from '../../records/accounts/watching.ts';
import { type Db, integer, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';
import { IS_OWNED } from './owners.ts';
import { DELTA, DELTA_COLUMNS, deltaOf, SHOWN, SIGNAL } from './records-deltas.ts';

const GROUP = { id: text, account: text, name: text, made_at: integer };
/** A hostname of a group with its last observation and change; both null if it has opted out. */
const MEMBER = {
  hostname: text,
  added_at: integer,
  unicode: orNull(text),
  state: orNull(oneOf('watched', 'paused', 'opted_out')),
  looked_at: orNull(integer),
  changed_at: orNull(integer),
  changed_signal: orNull(SIGNAL),
};

/** Groups of hostnames that accounts watch. */
export function watchGroupTable(db: Db, transact: Transact): WatchGroupTable {
  const { run, changed, insert, one, number, all } = sql(db);
  const remove = changed('DELETE FROM watch_groups WHERE account = ? AND id = ?');
  const put = changed(
    'INSERT INTO watch_group_hosts (watch_group, hostname, added_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const hasten = run(
    `UPDATE hostnames AS n SET prompt = 1, due_at = min(due_at, ?2)
     WHERE hostname = ?1 AND prompt = 0 AND state = 'watched' AND ${IS_OWNED}`,
  );
  const take = changed('DELETE FROM watch_group_hosts WHERE watch_group = ? AND hostname = ?');
  const release = run(
    `INSERT INTO watch_releases (hostname, account, released_at) SELECT hostname, ?2, ?3 FROM hostnames
     WHERE hostname = ?1 AND kept = 0 AND state = 'watched'
       AND NOT EXISTS (SELECT 1 FROM watch_group_hosts h WHERE h.hostname = ?1)
     ON CONFLICT (hostname) DO UPDATE SET account = excluded.account, released_at = excluded.released_at`,
  );
  const unrelease = run('DELETE FROM watch_releases WHERE hostname = ?');
  const unwatch = run(
    "UPDATE hostnames SET state = 'paused', lease = NULL, leased_by = NULL WHERE hostname = ? AND kept = 0 AND state = 'watched'",
  );
  const dropReleases = run('DELETE FROM watch_releases WHERE released_at <= ?');
  const abandoned = all(
    `SELECT hostname FROM hostnames n WHERE kept = 0 AND state = 'watched'
       AND NOT EXISTS (SELECT 1 FROM watch_group_hosts h WHERE h.hostname = n.hostname)
       AND NOT EXISTS (SELECT 1 FROM watch_releases r WHERE r.hostname = n.hostname) ORDER BY hostname`,
    text,
  );
  const noteAdditions = run(
    'INSERT INTO watch_additions VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET added = added + excluded.added',
  );
  const forgetAdditions = run('DELETE FROM watch_additions WHERE account = ? AND day < ?');
  const hosts = all('SELECT hostname, added_at FROM watch_group_hosts WHERE watch_group = ? ORDER BY hostname', {
    hostname: text,
    added_at: integer,
  });
  // Takes the newest changes of each hostname first: a group may contain hostnames with long histories.
  const changes = all(
    `SELECT ${DELTA_COLUMNS}
     FROM (SELECT DISTINCT n.id, n.hostname FROM watch_groups g
         CROSS JOIN watch_group_hosts m ON m.watch_group = g.id CROSS JOIN hostnames n ON n.hostname = m.hostname
         WHERE g.account = ?1 AND (?2 IS NULL OR g.id = ?2) AND n.state <> 'opted_out') h
       CROSS JOIN deltas d ON d.seq IN (SELECT seq FROM deltas d WHERE host = h.id AND ${SHOWN} AND seq < ?3 ORDER BY seq DESC LIMIT ?4)
     ORDER BY d.seq DESC LIMIT ?4`,
    DELTA,
    deltaOf,
  );
  return {
    add: insert('watch_groups', GROUP),
    rename: changed('UPDATE watch_groups SET name = ?3 WHERE account = ?1 AND id = ?2'),
    remove: (account, id, at) =>
      transact(() => {
        const held = hosts(id);
        if (!remove(account, id)) return false;
        for (const { hostname } of held) release(hostname, account, at);
        return true;
      }),
    get: one('SELECT id, account, name, made_at FROM watch_groups WHERE account = ? AND id = ?', GROUP),
    list: all(
      `SELECT id, account, name, made_at,
         (SELECT count(*) FROM watch_group_hosts h WHERE h.watch_group = g.id) AS hosts
       FROM watch_groups g WHERE account = ? ORDER BY name, id`,
      { ...GROUP, hosts: integer },
    ),
    summaries: all(
      // The newest change of each hostname is one index look-up; the group's newest is the highest of them.
      `SELECT g.id, g.account, g.name, g.made_at, g.hosts, g.alerts, d.at AS changed_at FROM (
         SELECT id, account, name, made_at,
           (SELECT count(*) FROM watch_group_hosts h WHERE h.watch_group = w.id) AS hosts,
           (SELECT count(*) FROM change_alerts a WHERE a.watch_group = w.id) AS alerts,
           (SELECT max((SELECT max(seq) FROM deltas d WHERE host = n.id AND ${SHOWN}))
            FROM watch_group_hosts h CROSS JOIN hostnames n ON n.hostname = h.hostname
            WHERE h.watch_group = w.id AND n.state <> 'opted_out') AS newest
         FROM watch_groups w WHERE account = ?) g
       LEFT JOIN deltas d ON d.seq = g.newest ORDER BY g.name, g.id`,
      { ...GROUP, hosts: integer, alerts: integer, changed_at: orNull(integer) },
    ),
    members: all(
      `SELECT g.hostname, g.added_at, n.unicode, n.state, iif(n.state = 'opted_out', NULL, n.looked_at) AS looked_at,
         d.at AS changed_at, d.signal AS changed_signal
       FROM watch_group_hosts g LEFT JOIN hostnames n ON n.hostname = g.hostname
         LEFT JOIN deltas d ON n.state <> 'opted_out' AND d.seq = (SELECT max(seq) FROM deltas d WHERE host = n.id AND ${SHOWN})
       WHERE g.watch_group = ? ORDER BY g.hostname`,
      MEMBER,
    ),
    observedHost: one(
      `SELECT n.hostname FROM watch_groups g CROSS JOIN watch_group_hosts m ON m.watch_group = g.id
         CROSS JOIN hostnames n ON n.hostname = m.hostname
       WHERE g.account = ? AND n.seq IS NOT NULL AND n.state <> 'opted_out' ORDER BY n.hostname LIMIT 1`,
      text,
    ),
    changes: (account, group, { before, limit }) => changes(account, group, before, limit),
    put(group, hostname, at) {
      unrelease(hostname);
      const isNew = put(group, hostname, at);
      hasten(hostname, at);
      return isNew;
    },
    take: ({ id, account }, hostname, at) =>
      transact(() => {
        if (!take(id, hostname)) return false;
        release(hostname, account, at);
        return true;
      }),
    hosts,
    hostsOf: all(
      `SELECT DISTINCT hostname FROM watch_group_hosts
       WHERE watch_group IN (SELECT id FROM watch_groups WHERE account = ?) ORDER BY hostname`,
      text,
    ),
    held: all(
      `SELECT h.hostname, g.id AS watch_group, g.name AS group_name, h.added_at
       FROM watch_group_hosts h JOIN watch_groups g ON g.id = h.watch_group
       WHERE g.account = ? ORDER BY h.hostname, g.name, g.id`,
      { hostname: text, watch_group: text, group_name: text, added_at: integer },
    ),
    released: all(
      `SELECT r.hostname, released_at FROM watch_releases r JOIN hostnames n ON n.hostname = r.hostname
       WHERE r.account = ? AND n.kept = 0 AND n.state = 'watched' ORDER BY released_at, r.hostname`,
      { hostname: text, released_at: integer },
    ),
    unwatch(hostname) {
      unrelease(hostname);
      unwatch(hostname);
    },
    unwatchAbandoned: (until) =>
      transact(() => {
        dropReleases(until);
        const names = abandoned();
        for (const name of names) unwatch(name);
        return names;
      }),
    additions: number('SELECT added FROM watch_additions WHERE account = ? AND day = ?'),
    noteAdditions(account, day, count) {
      forgetAdditions(account, day);
      noteAdditions(account, day, count);
    },
  };
}
