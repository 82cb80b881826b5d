import type { ConsoleMailTable } from '../desk/console/link.ts';
import { MAIL_KINDS, type MailTable } from '../desk/readers/mail.ts';
import type { NoticeTable } from '../desk/readers/notice.ts';
import { ACCOUNT_MAIL_KINDS, type AccountMailTable } from '../records/accounts/account-mail.ts';
import { columnsOf, type Db, integer, oneOf, orNull, sql, text } from '../shared/sql/sql.ts';

const PROGRESS = {
  due_at: integer,
  state: oneOf('due', 'sent', 'failed'),
  attempts: integer,
  settled_at: orNull(integer),
  error: orNull(text),
};
const MAIL = { id: text, paper: text, subscriber: text, kind: oneOf(...MAIL_KINDS), about: text, ...PROGRESS };
const NOTICE = { id: text, paper: text, email: text, since: integer, ...PROGRESS };
const CONSOLE_MAIL = { id: text, paper: text, ...PROGRESS };
const ACCOUNT_MAIL = {
  id: text,
  account: orNull(text),
  email: text,
  kind: oneOf(...ACCOUNT_MAIL_KINDS),
  ...PROGRESS,
};

/** The outcomes of leased mails in one table. Times in ms. */
function settlements(db: Db, table: string) {
  const { run } = sql(db);
  const settle = run(
    `UPDATE ${table} SET state = ?2, settled_at = ?3, error = ?4, lease = NULL WHERE id = ?1 AND state = 'due'`,
  );
  return {
    /** Releases the mails leased by a process that has ended. Returns their number. */
    release: run(`UPDATE ${table} SET due_at = ?1, lease = NULL WHERE lease IS NOT NULL AND state = 'due'`),
    sent: (id: string, at: number) => void settle(id, 'sent', at, null),
    /** Schedules the next attempt for `due_at`. */
    postpone: run(`UPDATE ${table} SET due_at = ?2, error = ?3, lease = NULL WHERE id = ?1 AND state = 'due'`),
    fail: (id: string, at: number, error: string) => void settle(id, 'failed', at, error),
  };
}

/**
 * Finds and leases mails in one statement, so that no other process can intervene. `due` selects the ids of at most ?3
 * mails that are due at ?1; they are leased until ?2.
 */
function leaseOf(table: string, due: string, columns: string): string {
  return `UPDATE ${table} SET due_at = ?2, lease = ?2, attempts = attempts + 1 WHERE id IN (${due}) RETURNING ${columns}`;
}

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** Mails to readers, and their outcomes. */
export function mailTable(db: Db): MailTable {
  const { insert, all } = sql(db);
  const COLUMNS = columnsOf(MAIL);
  const queue = insert(
    'mails',
    ['id', 'paper', 'subscriber', 'kind', 'about', 'due_at', 'state'],
    'ON CONFLICT DO NOTHING',
  );
  // Confirmation mails go first.
  const due = `SELECT id FROM (SELECT id FROM mails
      WHERE state = 'due' AND kind = 'confirm' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3)
    UNION ALL
    SELECT id FROM (SELECT id FROM mails WHERE state = 'due' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3)
    LIMIT ?3`;
  const leaseRows = all(leaseOf('mails', due, COLUMNS), MAIL);
  return {
    ...settlements(db, 'mails'),
    queue: (mail) => queue({ ...mail, state: 'due' }) === 1,
    lease: (now, until, limit) => leaseRows(now, until, limit).sort(byId),
    ofSubscriber: all(`SELECT ${COLUMNS} FROM mails WHERE subscriber = ? ORDER BY id`, MAIL),
  };
}

/** Mails to the people who run a paper, and their outcomes. */
export function noticeTable(db: Db): NoticeTable {
  const { run, insert, all } = sql(db);
  const queue = insert('notices', ['id', 'paper', 'email', 'since', 'due_at', 'state'], 'ON CONFLICT DO NOTHING');
  const due = "SELECT id FROM notices WHERE state = 'due' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3";
  return {
    ...settlements(db, 'notices'),
    queue: (notice) => void queue({ ...notice, state: 'due' }),
    lease: all(leaseOf('notices', due, columnsOf(NOTICE)), NOTICE, (notice) => ({ ...notice, kind: 'notice' })),
    forget: run('DELETE FROM notices WHERE settled_at <= ?'),
  };
}

/** Mails with sign-in links for a paper's console. They are deleted with their links. */
export function consoleMailTable(db: Db): ConsoleMailTable {
  const { insert, all } = sql(db);
  const queue = insert('console_mails', ['id', 'paper', 'due_at', 'state']);
  const due = "SELECT id FROM console_mails WHERE state = 'due' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3";
  return {
    ...settlements(db, 'console_mails'),
    queue: (mail) => void queue({ ...mail, state: 'due' }),
    lease: all(leaseOf('console_mails', due, columnsOf(CONSOLE_MAIL)), CONSOLE_MAIL, (mail) => ({
      ...mail,
      kind: 'sign-in',
    })),
  };
}

/** Mails of the domain records, and their outcomes. */
export function accountMailTable(db: Db): AccountMailTable {
  const { run, insert, all } = sql(db);
  const COLUMNS = columnsOf(ACCOUNT_MAIL);
  const queue = insert('account_mails', ['id', 'account', 'email', 'kind', 'due_at', 'state']);
  // Sign-in mails go first.
  const due = `SELECT id FROM account_mails WHERE state = 'due' AND due_at <= ?1
    ORDER BY kind <> 'sign-in', due_at, id LIMIT ?3`;
  const leaseRows = all(leaseOf('account_mails', due, COLUMNS), ACCOUNT_MAIL);
  return {
    ...settlements(db, 'account_mails'),
    queue: (mail) => void queue({ ...mail, state: 'due' }),
    lease: (now, until, limit) => leaseRows(now, until, limit).sort(byId),
    ofAccount: all(`SELECT ${COLUMNS} FROM account_mails WHERE account = ? ORDER BY id`, ACCOUNT_MAIL),
    dropEmail: run('DELETE FROM account_mails WHERE email = ?'),
    forget: run(
      "DELETE FROM account_mails WHERE settled_at <= iif(kind = 'sign-in', ?2, ?1) AND settled_at <= max(?1, ?2)",
    ),
  };
}
