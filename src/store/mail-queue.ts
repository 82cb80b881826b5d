import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** What becomes of claimed mails, in one table of them. Times in ms. */
export function mailQueue(db: Db, table: string) {
  const { run } = sql(db);
  const settle = run(
    `UPDATE ${table} SET state = ?2, settled_at = ?3, error = ?4, lease = NULL WHERE id = ?1 AND state = 'due'`,
  );
  const postpone = run(`UPDATE ${table} SET due_at = ?, error = ?, lease = NULL WHERE id = ? AND state = 'due'`);
  const release = run(`UPDATE ${table} SET due_at = ?1, lease = NULL WHERE lease IS NOT NULL AND state = 'due'`);
  return {
    /** Gives back what a process claimed that has ended; returns how many mails that were. */
    release: (now: number): number => release(now),
    sent(id: string, at: number): void {
      settle(id, 'sent', at, null);
    },
    /** Tries again at `due_at`. */
    postpone(id: string, due_at: number, error: string): void {
      postpone(due_at, error, id);
    },
    fail(id: string, at: number, error: string): void {
      settle(id, 'failed', at, error);
    },
  };
}
