import { type Db, sql, text } from '../../shared/sql/sql.ts';

/** Notices to accounts by mail: which accounts are due, and which notices a mail contains. Times in ms. */
export function noticeTable(db: Db, table: 'change_notices' | 'expectation_notices') {
  const { run, all } = sql(db);
  const gather = run(`UPDATE ${table} SET mail = ?4 WHERE mail IS NULL AND way = ?2 AND account = ?1 AND at < ?3`);
  const pace = run(
    'INSERT INTO change_paces VALUES (?, ?, ?) ON CONFLICT (account, way) DO UPDATE SET at = excluded.at',
  );
  return {
    due: all(
      `SELECT DISTINCT account FROM ${table} n
       WHERE mail IS NULL AND way = ?1 AND at < ?2
         AND NOT EXISTS (SELECT 1 FROM change_paces p WHERE p.account = n.account AND p.way = ?1 AND p.at > ?3)
       LIMIT ?4`,
      text,
    ),
    gather(account: string, way: 'instant' | 'daily', before: number, mail: string, at: number): void {
      gather(account, way, before, mail);
      pace(account, way, at);
    },
  };
}
