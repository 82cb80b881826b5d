import type { NoticeRecord, NoticeTable } from '../readers/notice.ts';
import { mailQueue } from './mail-queue.ts';
import type { Db } from './open.ts';

const COLUMNS = "id, paper, email, since, due_at, state, attempts, settled_at, error, 'notice' AS kind";

/** Mails to those who run a paper, and what became of them. */
export function noticeTable(db: Db): NoticeTable {
  const queue = db.prepare(
    `INSERT INTO notices (id, paper, email, since, due_at, state) VALUES (?, ?, ?, ?, ?, 'due') ON CONFLICT DO NOTHING`,
  );
  const claim = db.prepare(
    `UPDATE notices SET due_at = ?2, lease = ?2, attempts = attempts + 1
     WHERE id IN (SELECT id FROM notices WHERE state = 'due' AND due_at <= ?1 ORDER BY due_at, id LIMIT ?3)
     RETURNING ${COLUMNS}`,
  );
  const forget = db.prepare('DELETE FROM notices WHERE settled_at <= ?');
  return {
    ...mailQueue(db, 'notices'),
    queue({ id, paper, email, since, due_at }) {
      queue.run(id, paper, email, since, due_at);
    },
    claim: (now, until, limit) => claim.all(now, until, limit) as NoticeRecord[],
    forget(until) {
      forget.run(until);
    },
  };
}
