import { BEGINNINGS, type ConsoleSessionTable } from '../../desk/console/session.ts';
import { columnsOf, type Db, integer, oneOf, sql, text } from '../../shared/sql/sql.ts';

const SESSION = {
  id: text,
  paper: text,
  key: text,
  began: oneOf(...BEGINNINGS),
  made_at: integer,
  seen_at: integer,
  expires_at: integer,
  browser: text,
  network: text,
};

/** Sessions in the papers' consoles. The table stores a hash of each cookie, never the cookie. */
export function consoleSessionTable(db: Db): ConsoleSessionTable {
  const { run, insert, one, all } = sql(db);
  const add = insert('console_sessions', { ...SESSION, hash: text });
  const SESSIONS = `SELECT ${columnsOf(SESSION)} FROM console_sessions`;
  return {
    insert: (session, hash) => void add({ ...session, hash }),
    byHash: one(`${SESSIONS} WHERE hash = ?`, SESSION),
    touch: run('UPDATE console_sessions SET seen_at = ?2, expires_at = ?3 WHERE id = ?1 AND seen_at < ?2'),
    end: run('DELETE FROM console_sessions WHERE id = ?'),
    endOthers: run('DELETE FROM console_sessions WHERE key = ? AND id <> ?'),
    list: all(
      `${SESSIONS} WHERE paper = ?1 AND expires_at > ?2 AND EXISTS (SELECT 1 FROM keys
         WHERE keys.id = key AND revoked_at IS NULL AND (keys.expires_at IS NULL OR keys.expires_at > ?2))
       ORDER BY id DESC`,
      SESSION,
    ),
    forget: run('DELETE FROM console_sessions WHERE expires_at <= ?'),
  };
}
