import type { SignInTable } from '../accounts/sign-in.ts';
import { mailboxHash } from '../outbound/mailbox.ts';
import { integer, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const SIGN_IN = { id: text, email: text, made_at: integer, expires_at: integer, used_at: orNull(integer) };
const COLUMNS = Object.keys(SIGN_IN).join(', ');

/** Sign-in links from mails, by the hash of their token. */
export function signInTable(db: Db): SignInTable {
  const { run, one } = sql(db);
  const insert = run('INSERT INTO sign_ins (id, hash, email, made_at, expires_at, mailbox) VALUES (?, ?, ?, ?, ?, ?)');
  const use = run('UPDATE sign_ins SET used_at = ? WHERE id = ? AND used_at IS NULL');
  const useOthers = run(
    'UPDATE sign_ins SET used_at = ?1 WHERE used_at IS NULL AND email = (SELECT email FROM sign_ins WHERE id = ?2)',
  );
  const unanswered = one(
    `SELECT count(*) AS count, coalesce(min(made_at), 0) AS first_at, coalesce(max(made_at), 0) AS last_at
     FROM sign_ins WHERE mailbox = ? AND made_at < ? AND used_at IS NULL`,
    { count: integer, first_at: integer, last_at: integer },
  );
  return {
    insert({ id, email, made_at, expires_at }, hash) {
      insert(id, hash, email, made_at, expires_at, mailboxHash(email));
    },
    byId: one(`SELECT ${COLUMNS} FROM sign_ins WHERE id = ?`, SIGN_IN),
    byHash: one(`SELECT ${COLUMNS} FROM sign_ins WHERE hash = ?`, SIGN_IN),
    use(id, at) {
      if (use(at, id) !== 1) return false;
      useOthers(at, id);
      return true;
    },
    unanswered(email, before) {
      return unanswered(mailboxHash(email), before) ?? { count: 0, first_at: 0, last_at: 0 };
    },
    dropEmail: run('DELETE FROM sign_ins WHERE email = ?'),
    forget: run('DELETE FROM sign_ins WHERE expires_at <= ?'),
  };
}
