import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** How claimed mails of one table are settled. Times in ms. */
export function mailQueue(db: Db, table: string) {
  const { run } = sql(db);
  const settle = run(
    `UPDATE ${table} SET state = ?2, settled_at = ?3, error = ?4, lease = NULL WHERE id = ?1 AND state = 'due'`,
  );
  const postpone = run(`UPDATE ${table} SET due_at = ?, error = ?, lease = NULL WHERE id = ? AND state = 'due'`);
  const release = run(`UPDATE ${table} SET due_at = ?1, lease = NULL WHERE lease IS NOT NULL AND state = 'due'`);
  return {
    /** Releases the mails claimed by a process that has ended. Returns their number. */
    release: (now: number): number => release(now),
    sent(id: string, at: number): void {
      settle(id, 'sent', at, null);
    },
    /** Schedules the next attempt for `due_at`. */
    postpone(id: string, due_at: number, error: string): void {
      postpone(due_at, error, id);
    },
    fail(id: string, at: number, error: string): void {
      settle(id, 'failed', at, error);
    },
  };
}
