import type { Account, AccountTable } from '../accounts/account.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, email, plan, made_at';

/** Accounts of the domain records. */
export function accountTable(db: Db): AccountTable {
  const insert = db.prepare(
    'INSERT INTO accounts (id, email, plan, made_at) VALUES (?, ?, ?, ?) ON CONFLICT (email) DO NOTHING',
  );
  const byEmail = db.prepare(`SELECT ${COLUMNS} FROM accounts WHERE email = ?`);
  const byId = db.prepare(`SELECT ${COLUMNS} FROM accounts WHERE id = ?`);
  const setPlan = db.prepare('UPDATE accounts SET plan = ? WHERE id = ?');
  const remove = db.prepare('DELETE FROM accounts WHERE id = ?');
  const one = (rows: unknown[]): Account | null => (rows[0] as Account | undefined) ?? null;
  return {
    ofEmail(email, { id, plan, made_at }) {
      insert.run(id, email, plan, made_at);
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
