import { subaddresses } from '../accounts/mailbox.ts';
import type { SignIn, SignInTable } from '../accounts/sign-in.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, email, made_at, expires_at, used_at';

/** Mailed links that sign in, by the hash of their token. */
export function signInTable(db: Db): SignInTable {
  const insert = db.prepare('INSERT INTO sign_ins (id, hash, email, made_at, expires_at) VALUES (?, ?, ?, ?, ?)');
  const byId = db.prepare(`SELECT ${COLUMNS} FROM sign_ins WHERE id = ?`);
  const byHash = db.prepare(`SELECT ${COLUMNS} FROM sign_ins WHERE hash = ?`);
  const use = db.prepare('UPDATE sign_ins SET used_at = ? WHERE id = ? AND used_at IS NULL');
  const useOthers = db.prepare(
    'UPDATE sign_ins SET used_at = ?1 WHERE used_at IS NULL AND email = (SELECT email FROM sign_ins WHERE id = ?2)',
  );
  const unanswered = db.prepare(
    `SELECT count(*) AS count, coalesce(min(made_at), 0) AS first_at, coalesce(max(made_at), 0) AS last_at
     FROM sign_ins WHERE made_at < ?5 AND used_at IS NULL
       AND (email = ?1 OR email >= ?2 AND email < ?3 AND substr(email, -length(?4)) = ?4)`,
  );
  const dropEmail = db.prepare('DELETE FROM sign_ins WHERE email = ?');
  const forget = db.prepare('DELETE FROM sign_ins WHERE expires_at <= ?');
  return {
    insert({ id, email, made_at, expires_at }, hash) {
      insert.run(id, hash, email, made_at, expires_at);
    },
    byId: (id) => (byId.all(id) as SignIn[])[0] ?? null,
    byHash: (hash) => (byHash.all(hash) as SignIn[])[0] ?? null,
    use(id, at) {
      if (use.run(at, id).changes !== 1) return false;
      useOthers.run(at, id);
      return true;
    },
    unanswered(email, before) {
      const { bare, from, to, at } = subaddresses(email);
      const [row] = unanswered.all(bare, from, to, at, before) as [ReturnType<SignInTable['unanswered']>];
      return row;
    },
    dropEmail(email) {
      dropEmail.run(email);
    },
    forget(until) {
      forget.run(until);
    },
  };
}
