import type { MailRecord, MailTable } from '../readers/mail.ts';
import { mailQueue } from './mail-queue.ts';
import type { Db } from './open.ts';

const COLUMNS = 'id, paper, subscriber, kind, about, due_at, state, attempts, settled_at, error';

/** Mails to be sent, and what became of them. */
export function mailTable(db: Db): MailTable {
  const queue = db.prepare(
    `INSERT INTO mails (id, paper, subscriber, kind, about, due_at, state) VALUES (?, ?, ?, ?, ?, ?, 'due')
     ON CONFLICT DO NOTHING`,
  );
  // One statement finds and takes them: no other process comes between. Who asks to confirm goes first.
  const claim = db.prepare(
    `UPDATE mails SET due_at = ?2, lease = ?2, attempts = attempts + 1
     WHERE id IN (
       SELECT id FROM (SELECT id FROM mails
         WHERE state = 'due' AND kind = 'confirm' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3)
       UNION ALL
       SELECT id FROM (SELECT id FROM mails
         WHERE state = 'due' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3)
       LIMIT ?3)
     RETURNING ${COLUMNS}`,
  );
  const ofSubscriber = db.prepare(`SELECT ${COLUMNS} FROM mails WHERE subscriber = ? ORDER BY id`);
  return {
    ...mailQueue(db, 'mails'),
    queue: ({ id, paper, subscriber, kind, about, due_at }) =>
      queue.run(id, paper, subscriber, kind, about, due_at).changes === 1,
    claim: (now, until, limit) => (claim.all(now, until, limit) as MailRecord[]).sort((a, b) => (a.id < b.id ? -1 : 1)),
    ofSubscriber: (subscriber) => ofSubscriber.all(subscriber) as MailRecord[],
  };
}
