import { type Db, integer, sql, text } from '../../shared/sql/sql.ts';

/** The node whose observations this database signs. Times in ms. */
export function nodeTable(db: Db) {
  const { run, one } = sql(db);
  const newest = one('SELECT name, "range", is_settled FROM records_nodes ORDER BY id DESC LIMIT 1', {
    name: text,
    range: text,
    is_settled: integer,
  });
  return {
    /** Null for a service that is not divided into nodes. */
    newest,
    note: run('INSERT INTO records_nodes (name, "range", since) VALUES (?, ?, ?)'),
    /** Records that the hostnames outside the newest range are paused. */
    settle: run('UPDATE records_nodes SET is_settled = 1 WHERE id = (SELECT max(id) FROM records_nodes)'),
  };
}
