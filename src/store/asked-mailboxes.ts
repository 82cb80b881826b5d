import { ASKED_KEPT, type AskedMailboxTable } from '../readers/asked-mailbox.ts';
import { integer } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** Unanswered requests to confirm, by the hash of the mailbox that they were sent to. */
export function askedMailboxTable(db: Db): AskedMailboxTable {
  const { run, one } = sql(db);
  const of = one(
    `SELECT count(*) AS total, count(*) FILTER (WHERE paper = ?2) AS count,
       coalesce(min(at) FILTER (WHERE paper = ?2), 0) AS first_at, coalesce(max(at) FILTER (WHERE paper = ?2), 0) AS last_at
     FROM asked_mailboxes WHERE mailbox = ?1 AND at > ?3 AND at < ?4`,
    { total: integer, count: integer, first_at: integer, last_at: integer },
  );
  return {
    note: run('INSERT INTO asked_mailboxes (mailbox, paper, at) VALUES (?, ?, ?)'),
    of: (mailbox, paper, now) =>
      of(mailbox, paper, now - ASKED_KEPT, now + ASKED_KEPT) ?? { total: 0, count: 0, first_at: 0, last_at: 0 },
    clear: run('DELETE FROM asked_mailboxes WHERE mailbox = ?'),
    forget: run('DELETE FROM asked_mailboxes WHERE at <= ?'),
  };
}
