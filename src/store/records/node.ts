import { type Db, integer, sql, text } from '../../shared/sql/sql.ts';

/** The node that the database signs for. Times in ms. */
export function nodeTable(db: Db) {
  const { run, one } = sql(db);
  const newest = one('SELECT name, "range", is_settled FROM records_nodes ORDER BY id DESC LIMIT 1', {
    name: text,
    range: text,
    is_settled: integer,
  });
  return {
    /** Null where one service has all names. */
    newest,
    note: run('INSERT INTO records_nodes (name, "range", since) VALUES (?, ?, ?)'),
    /** Notes that the hostnames outside the newest range are paused. */
    settle: run('UPDATE records_nodes SET is_settled = 1 WHERE id = (SELECT max(id) FROM records_nodes)'),
  };
}
