import type { AccountTable } from '../../records/accounts/account.ts';
import type { AccountSessionTable } from '../../records/accounts/session.ts';
import type { SignInTable } from '../../records/accounts/sign-in.ts';
import { PLANS } from '../../records/meter/account-usage.ts';
import { mailboxHash } from '../../shared/outbound/mail-address.ts';
import { columnsOf, type Db, integer, oneOf, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';

const ACCOUNT = { id: text, email: text, plan: oneOf(...PLANS), made_at: integer };
const SESSION = {
  id: text,
  account: text,
  made_at: integer,
  seen_at: integer,
  expires_at: integer,
  browser: orNull(text),
};
const SIGN_IN = { id: text, email: text, made_at: integer, expires_at: integer, used_at: orNull(integer) };

/** Accounts of the domain records. */
export function accountTable(db: Db, transact: Transact): AccountTable {
  const { run, insert, one } = sql(db);
  const add = insert('accounts', ['id', 'email', 'plan', 'made_at', 'mailbox'], 'ON CONFLICT (email) DO NOTHING');
  const byEmail = one(`SELECT ${columnsOf(ACCOUNT)} FROM accounts WHERE email = ?`, ACCOUNT);
  fillMailboxes(db, transact);
  return {
    ofEmail(email, account) {
      add({ ...account, email, mailbox: mailboxHash(email) });
      return byEmail(email) ?? { ...account, email };
    },
    find: one(`SELECT ${columnsOf(ACCOUNT)} FROM accounts WHERE id = ?`, ACCOUNT),
    byEmail,
    setPlan: run('UPDATE accounts SET plan = ?2 WHERE id = ?1'),
    remove: run('DELETE FROM accounts WHERE id = ?'),
  };
}

/** Sets the mailbox of each account that was created before mailboxes were stored. */
function fillMailboxes(db: Db, transact: Transact): void {
  const { run, has, all } = sql(db);
  if (!has('SELECT 1 FROM accounts WHERE mailbox IS NULL LIMIT 1')()) return;
  const missing = all('SELECT id, email FROM accounts WHERE mailbox IS NULL', { id: text, email: text });
  const fill = run('UPDATE accounts SET mailbox = ? WHERE id = ?');
  transact(() => {
    for (const { id, email } of missing()) fill(mailboxHash(email), id);
  });
}

/** Sessions of signed-in browsers. The table stores a hash of each cookie, never the cookie. */
export function sessionTable(db: Db): AccountSessionTable {
  const { run, insert, one, all } = sql(db);
  const add = insert('sessions', { ...SESSION, hash: text });
  const endAll = run('DELETE FROM sessions WHERE account = ? AND id <> ?');
  const SESSIONS = `SELECT ${columnsOf(SESSION)} FROM sessions`;
  return {
    insert: (session, hash) => void add({ ...session, hash }),
    byHash: one(`${SESSIONS} WHERE hash = ?`, SESSION),
    touch: run('UPDATE sessions SET seen_at = ?2, expires_at = ?3 WHERE id = ?1 AND seen_at < ?2'),
    end: run('DELETE FROM sessions WHERE id = ?'),
    endAll: (account, except = '') => endAll(account, except),
    list: all(`${SESSIONS} WHERE account = ? AND expires_at > ? ORDER BY id DESC`, SESSION),
    forget: run('DELETE FROM sessions WHERE expires_at <= ?'),
  };
}

/** Sign-in links from mails, by the hash of their token. */
export function signInTable(db: Db): SignInTable {
  const { run, changed, insert, one } = sql(db);
  const add = insert('sign_ins', ['id', 'hash', 'email', 'made_at', 'expires_at', 'mailbox']);
  const use = changed('UPDATE sign_ins SET used_at = ? WHERE id = ? AND used_at IS NULL');
  const useOthers = run(
    'UPDATE sign_ins SET used_at = ? WHERE used_at IS NULL AND email = (SELECT email FROM sign_ins WHERE id = ?)',
  );
  const unanswered = one(
    `SELECT count(*) AS count, coalesce(min(made_at), 0) AS first_at, coalesce(max(made_at), 0) AS last_at
     FROM sign_ins WHERE mailbox = ? AND made_at < ? AND used_at IS NULL`,
    { count: integer, first_at: integer, last_at: integer },
  );
  return {
    insert: (signIn, hash) => void add({ ...signIn, hash, mailbox: mailboxHash(signIn.email) }),
    byId: one(`SELECT ${columnsOf(SIGN_IN)} FROM sign_ins WHERE id = ?`, SIGN_IN),
    byHash: one(`SELECT ${columnsOf(SIGN_IN)} FROM sign_ins WHERE hash = ?`, SIGN_IN),
    use(id, at) {
      if (!use(at, id)) return false;
      useOthers(at, id);
      return true;
    },
    unanswered: (email, before) => unanswered(mailboxHash(email), before) ?? { count: 0, first_at: 0, last_at: 0 },
    dropEmail: run('DELETE FROM sign_ins WHERE email = ?'),
    forget: run('DELETE FROM sign_ins WHERE expires_at <= ?'),
  };
}
