import type { SessionTable } from '../accounts/session.ts';
import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const SESSION = { id: text, account: text, made_at: integer, seen_at: integer, expires_at: integer };
const COLUMNS = Object.keys(SESSION).join(', ');

/** Sessions of signed-in browsers. The table stores a hash of each cookie, never the cookie. */
export function sessionTable(db: Db): SessionTable {
  const { run, one, all } = sql(db);
  const insert = run(
    'INSERT INTO sessions (id, hash, account, made_at, seen_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  return {
    insert({ id, account, made_at, seen_at, expires_at }, hash) {
      insert(id, hash, account, made_at, seen_at, expires_at);
    },
    byHash: one(`SELECT ${COLUMNS} FROM sessions WHERE hash = ?`, SESSION),
    touch: run('UPDATE sessions SET seen_at = ?2, expires_at = ?3 WHERE id = ?1 AND seen_at < ?2'),
    end: run('DELETE FROM sessions WHERE id = ?'),
    endAll: run('DELETE FROM sessions WHERE account = ?'),
    list: all(`SELECT ${COLUMNS} FROM sessions WHERE account = ? AND expires_at > ? ORDER BY id DESC`, SESSION),
    forget: run('DELETE FROM sessions WHERE expires_at <= ?'),
  };
}
