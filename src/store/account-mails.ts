import type { AccountMailRecord, AccountMailTable } from '../accounts/account-mail.ts';
import { mailQueue } from './mail-queue.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, account, email, kind, due_at, state, attempts, settled_at, error';

/** Mails of the domain records, and what became of them. */
export function accountMailTable(db: Db): AccountMailTable {
  const queue = db.prepare(
    "INSERT INTO account_mails (id, account, email, kind, due_at, state) VALUES (?, ?, ?, ?, ?, 'due')",
  );
  // One statement finds and takes them: no other process comes between. Who waits to sign in goes first.
  const claim = db.prepare(
    `UPDATE account_mails SET due_at = ?2, lease = ?2, attempts = attempts + 1
     WHERE id IN (
       SELECT id FROM account_mails WHERE state = 'due' AND due_at <= ?1
       ORDER BY kind <> 'sign-in', due_at, id LIMIT ?3)
     RETURNING ${COLUMNS}`,
  );
  const ofAccount = db.prepare(`SELECT ${COLUMNS} FROM account_mails WHERE account = ? ORDER BY id`);
  const dropEmail = db.prepare('DELETE FROM account_mails WHERE email = ?');
  const forget = db.prepare(
    "DELETE FROM account_mails WHERE settled_at <= iif(kind = 'sign-in', ?2, ?1) AND settled_at <= max(?1, ?2)",
  );
  return {
    ...mailQueue(db, 'account_mails'),
    queue({ id, account, email, kind, due_at }) {
      queue.run(id, account, email, kind, due_at);
    },
    claim: (now, until, limit) =>
      (claim.all(now, until, limit) as AccountMailRecord[]).sort((a, b) => (a.id < b.id ? -1 : 1)),
    ofAccount: (account) => ofAccount.all(account) as AccountMailRecord[],
    dropEmail(email) {
      dropEmail.run(email);
    },
    forget(until, signInsUntil) {
      forget.run(until, signInsUntil);
    },
  };
}
