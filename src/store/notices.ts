import type { NoticeTable } from '../readers/notice.ts';
import { integer, oneOf, orNull, text } from './columns.ts';
import { mailQueue } from './mail-queue.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

const NOTICE = {
  id: text,
  paper: text,
  email: text,
  since: integer,
  due_at: integer,
  state: oneOf('due', 'sent', 'failed'),
  attempts: integer,
  settled_at: orNull(integer),
  error: orNull(text),
  kind: oneOf('notice'),
};

/** Mails to the people who run a paper, and their outcomes. */
export function noticeTable(db: Db): NoticeTable {
  const { run, all } = sql(db);
  const queue = run(
    `INSERT INTO notices (id, paper, email, since, due_at, state) VALUES (?, ?, ?, ?, ?, 'due') ON CONFLICT DO NOTHING`,
  );
  return {
    ...mailQueue(db, 'notices'),
    queue({ id, paper, email, since, due_at }) {
      queue(id, paper, email, since, due_at);
    },
    claim: all(
      `UPDATE notices SET due_at = ?2, lease = ?2, attempts = attempts + 1
       WHERE id IN (SELECT id FROM notices WHERE state = 'due' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3)
       RETURNING id, paper, email, since, due_at, state, attempts, settled_at, error, 'notice' AS kind`,
      NOTICE,
    ),
    forget: run('DELETE FROM notices WHERE settled_at <= ?'),
  };
}
