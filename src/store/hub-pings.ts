import type { HubPings } from '../outbound/hub-ping.ts';
import type { TopicQueue } from '../press/topics.ts';
import { type Db, integer, sql, text } from './sql.ts';

export type HubPingTable = HubPings & TopicQueue;

export function hubPingTable(db: Db): HubPingTable {
  const { run, all } = sql(db);
  const note = run(
    `INSERT INTO hub_pings (paper, path, change, due_at, tries, lease) VALUES (?, ?, 1, NULL, 0, 0)
     ON CONFLICT DO UPDATE SET change = change + 1, due_at = NULL, tries = 0`,
  );
  const release = run('UPDATE hub_pings SET due_at = ? WHERE paper = ? AND due_at IS NULL');
  // A lease of more than its whole span was given before the clock was set back.
  const claim = all(
    `UPDATE hub_pings SET lease = ?2 WHERE (paper, path) IN (
       SELECT paper, path FROM hub_pings WHERE due_at <= ?1 AND (lease <= ?1 OR lease > ?2)
       ORDER BY due_at, paper, path LIMIT ?3)
     RETURNING paper, path, change, tries`,
    { paper: text, path: text, change: integer, tries: integer },
  );
  const remove = run('DELETE FROM hub_pings WHERE paper = ? AND path = ? AND change = ?');
  const putOff = run(
    'UPDATE hub_pings SET due_at = ?, tries = tries + 1, lease = 0 WHERE paper = ? AND path = ? AND change = ?',
  );
  const free = run('UPDATE hub_pings SET lease = 0 WHERE paper = ? AND path = ?');
  return {
    note(paper, paths) {
      for (const path of paths) note(paper, path);
    },
    release(paper, now) {
      release(now, paper);
    },
    claim: (now, lease, limit) => claim(now, lease, limit),
    settle({ paper, path, change }) {
      if (remove(paper, path, change) === 0) free(paper, path);
    },
    retry({ paper, path, change }, due_at) {
      if (putOff(due_at, paper, path, change) === 0) free(paper, path);
    },
  };
}
