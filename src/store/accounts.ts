import type { Account, AccountTable } from '../accounts/account.ts';
import { mailboxHash } from '../accounts/mailbox.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, email, plan, made_at';

/** Accounts of the domain records. */
export function accountTable(db: Db, transact: (work: () => void) => void): AccountTable {
  const insert = db.prepare(
    'INSERT INTO accounts (id, email, plan, made_at, mailbox) VALUES (?, ?, ?, ?, ?) ON CONFLICT (email) DO NOTHING',
  );
  const byEmail = db.prepare(`SELECT ${COLUMNS} FROM accounts WHERE email = ?`);
  const byId = db.prepare(`SELECT ${COLUMNS} FROM accounts WHERE id = ?`);
  const setPlan = db.prepare('UPDATE accounts SET plan = ? WHERE id = ?');
  const remove = db.prepare('DELETE FROM accounts WHERE id = ?');
  fillMailboxes(db, transact);
  const one = (rows: unknown[]): Account | null => (rows[0] as Account | undefined) ?? null;
  return {
    ofEmail(email, { id, plan, made_at }) {
      insert.run(id, email, plan, made_at, mailboxHash(email));
      return one(byEmail.all(email)) as Account;
    },
    find: (id) => one(byId.all(id)),
    byEmail: (email) => one(byEmail.all(email)),
    setPlan(id, plan) {
      setPlan.run(plan, id);
    },
    remove(id) {
      remove.run(id);
    },
  };
}

/** Accounts from before mailboxes were known get theirs. */
function fillMailboxes(db: Db, transact: (work: () => void) => void): void {
  const missing = db.prepare('SELECT id, email FROM accounts WHERE mailbox IS NULL');
  if (missing.get() === undefined) return;
  const fill = db.prepare('UPDATE accounts SET mailbox = ? WHERE id = ?');
  transact(() => {
    for (const { id, email } of missing.all() as { id: string; email: string }[]) fill.run(mailboxHash(email), id);
  });
}
