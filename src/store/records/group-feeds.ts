import type { GroupFeedTable } from '../../records/accounts/group-feed.ts';
import { type Db, integer, sql, text } from '../../shared/sql/sql.ts';

/** The private feeds of groups. */
export function groupFeedTable(db: Db): GroupFeedTable {
  const { changed, one, upsert } = sql(db);
  const put = upsert('group_feeds', ['watch_group'], ['id', 'made_at']);
  return {
    get: one('SELECT id, made_at FROM group_feeds WHERE watch_group = ?', { id: text, made_at: integer }),
    groupOf: one(
      `SELECT g.id, g.account, g.name, g.made_at FROM group_feeds f JOIN watch_groups g ON g.id = f.watch_group
       WHERE f.id = ?`,
      { id: text, account: text, name: text, made_at: integer },
    ),
    put: (watch_group, feed) => void put({ watch_group, ...feed }),
    remove: changed('DELETE FROM group_feeds WHERE watch_group = ?'),
  };
}
