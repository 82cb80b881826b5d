import type { MailTable } from '../readers/mail.ts';
import { MAIL_KINDS } from '../readers/mail.ts';
import { integer, oneOf, orNull, text } from './columns.ts';
import { mailQueue } from './mail-queue.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const MAIL = {
  id: text,
  paper: text,
  subscriber: text,
  kind: oneOf(...MAIL_KINDS),
  about: text,
  due_at: integer,
  state: oneOf('due', 'sent', 'failed'),
  attempts: integer,
  settled_at: orNull(integer),
  error: orNull(text),
};
const COLUMNS = Object.keys(MAIL).join(', ');

/** Mails to readers, and their outcomes. */
export function mailTable(db: Db): MailTable {
  const { run, all } = sql(db);
  const queue = run(
    `INSERT INTO mails (id, paper, subscriber, kind, about, due_at, state) VALUES (?, ?, ?, ?, ?, ?, 'due')
     ON CONFLICT DO NOTHING`,
  );
  // One statement finds and claims the mails, so no other process can intervene. Confirmation mails go first.
  const claim = all(
    `UPDATE mails SET due_at = ?2, lease = ?2, attempts = attempts + 1
     WHERE id IN (
       SELECT id FROM (SELECT id FROM mails
         WHERE state = 'due' AND kind = 'confirm' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3)
       UNION ALL
       SELECT id FROM (SELECT id FROM mails
         WHERE state = 'due' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3)
       LIMIT ?3)
     RETURNING ${COLUMNS}`,
    MAIL,
  );
  return {
    ...mailQueue(db, 'mails'),
    queue: ({ id, paper, subscriber, kind, about, due_at }) => queue(id, paper, subscriber, kind, about, due_at) === 1,
    claim: (now, until, limit) => claim(now, until, limit).sort((a, b) => (a.id < b.id ? -1 : 1)),
    ofSubscriber: all(`SELECT ${COLUMNS} FROM mails WHERE subscriber = ? ORDER BY id`, MAIL),
  };
}
