import type { Session, SessionTable } from '../accounts/session.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, account, made_at, seen_at, expires_at';

/** Browsers that are signed in: the table holds hashes of what their cookies hold. */
export function sessionTable(db: Db): SessionTable {
  const insert = db.prepare(
    'INSERT INTO sessions (id, hash, account, made_at, seen_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const byHash = db.prepare(`SELECT ${COLUMNS} FROM sessions WHERE hash = ?`);
  const touch = db.prepare('UPDATE sessions SET seen_at = ?2, expires_at = ?3 WHERE id = ?1 AND seen_at < ?2');
  const end = db.prepare('DELETE FROM sessions WHERE id = ?');
  const endAll = db.prepare('DELETE FROM sessions WHERE account = ?');
  const list = db.prepare(`SELECT ${COLUMNS} FROM sessions WHERE account = ? AND expires_at > ? ORDER BY id DESC`);
  const forget = db.prepare('DELETE FROM sessions WHERE expires_at <= ?');
  return {
    insert({ id, account, made_at, seen_at, expires_at }, hash) {
      insert.run(id, hash, account, made_at, seen_at, expires_at);
    },
    byHash: (hash) => (byHash.all(hash) as Session[])[0] ?? null,
    touch(id, seen_at, expires_at) {
      touch.run(id, seen_at, expires_at);
    },
    end(id) {
      end.run(id);
    },
    endAll(account) {
      endAll.run(account);
    },
    list: (account, now) => list.all(account, now) as Session[],
    forget(until) {
      forget.run(until);
    },
  };
}
