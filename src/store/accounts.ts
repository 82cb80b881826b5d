import type { AccountTable } from '../accounts/account.ts';
import { PLANS } from '../meter/account-usage.ts';
import { mailboxHash } from '../outbound/mailbox.ts';
import { integer, oneOf, text } from './columns.ts';
import type { Db } from './open.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

const ACCOUNT = { id: text, email: text, plan: oneOf(...PLANS), made_at: integer };
const COLUMNS = Object.keys(ACCOUNT).join(', ');

/** Accounts of the domain records. */
export function accountTable(db: Db, transact: Transact): AccountTable {
  const { run, one } = sql(db);
  const insert = run(
    'INSERT INTO accounts (id, email, plan, made_at, mailbox) VALUES (?, ?, ?, ?, ?) ON CONFLICT (email) DO NOTHING',
  );
  const byEmail = one(`SELECT ${COLUMNS} FROM accounts WHERE email = ?`, ACCOUNT);
  const setPlan = run('UPDATE accounts SET plan = ? WHERE id = ?');
  fillMailboxes(db, transact);
  return {
    ofEmail(email, { id, plan, made_at }) {
      insert(id, email, plan, made_at, mailboxHash(email));
      return byEmail(email) ?? { id, email, plan, made_at };
    },
    find: one(`SELECT ${COLUMNS} FROM accounts WHERE id = ?`, ACCOUNT),
    byEmail,
    setPlan(id, plan) {
      setPlan(plan, id);
    },
    remove: run('DELETE FROM accounts WHERE id = ?'),
  };
}

/** Sets the mailbox of each account that was created before mailboxes were stored. */
function fillMailboxes(db: Db, transact: Transact): void {
  const { run, one, all } = sql(db);
  const isMissing = one('SELECT 1 FROM accounts WHERE mailbox IS NULL LIMIT 1', integer);
  if (isMissing() === null) return;
  const missing = all('SELECT id, email FROM accounts WHERE mailbox IS NULL', { id: text, email: text });
  const fill = run('UPDATE accounts SET mailbox = ? WHERE id = ?');
  transact(() => {
    for (const { id, email } of missing()) fill(mailboxHash(email), id);
  });
}
