import type { AccountMailTable } from '../accounts/account-mail.ts';
import { ACCOUNT_MAIL_KINDS } from '../accounts/account-mail.ts';
import { integer, oneOf, orNull, text } from './columns.ts';
import { mailQueue } from './mail-queue.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const MAIL = {
  id: text,
  account: orNull(text),
  email: text,
  kind: oneOf(...ACCOUNT_MAIL_KINDS),
  due_at: integer,
  state: oneOf('due', 'sent', 'failed'),
  attempts: integer,
  settled_at: orNull(integer),
  error: orNull(text),
};
const COLUMNS = Object.keys(MAIL).join(', ');

/** Mails of the domain records, and their outcomes. */
export function accountMailTable(db: Db): AccountMailTable {
  const { run, all } = sql(db);
  const queue = run(
    "INSERT INTO account_mails (id, account, email, kind, due_at, state) VALUES (?, ?, ?, ?, ?, 'due')",
  );
  // One statement finds and claims the mails, so no other process can intervene. Sign-in mails go first.
  const claim = all(
    `UPDATE account_mails SET due_at = ?2, lease = ?2, attempts = attempts + 1
     WHERE id IN (
       SELECT id FROM account_mails WHERE state = 'due' AND due_at <= ?1
       ORDER BY kind <> 'sign-in', due_at, id LIMIT ?3)
     RETURNING ${COLUMNS}`,
    MAIL,
  );
  return {
    ...mailQueue(db, 'account_mails'),
    queue({ id, account, email, kind, due_at }) {
      queue(id, account, email, kind, due_at);
    },
    claim: (now, until, limit) => claim(now, until, limit).sort((a, b) => (a.id < b.id ? -1 : 1)),
    ofAccount: all(`SELECT ${COLUMNS} FROM account_mails WHERE account = ? ORDER BY id`, MAIL),
    dropEmail: run('DELETE FROM account_mails WHERE email = ?'),
    forget: run(
      "DELETE FROM account_mails WHERE settled_at <= iif(kind = 'sign-in', ?2, ?1) AND settled_at <= max(?1, ?2)",
    ),
  };
}
