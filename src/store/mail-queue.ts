import type { Db } from './open.ts';

/** What becomes of mails that were claimed, in one table of them. Times in ms. */
export function mailQueue(db: Db, table: string) {
  const release = db.prepare(`UPDATE ${table} SET due_at = ?1, lease = NULL WHERE lease IS NOT NULL AND state = 'due'`);
  const settle = db.prepare(
    `UPDATE ${table} SET state = ?2, settled_at = ?3, error = ?4, lease = NULL WHERE id = ?1 AND state = 'due'`,
  );
  const postpone = db.prepare(`UPDATE ${table} SET due_at = ?, error = ?, lease = NULL WHERE id = ? AND state = 'due'`);
  return {
    /** Gives back what was claimed by one who is no more; returns how many mails that were. */
    release: (now: number): number => release.run(now).changes,
    sent(id: string, at: number): void {
      settle.run(id, 'sent', at, null);
    },
    /** Tries again at `due_at`. */
    postpone(id: string, due_at: number, error: string): void {
      postpone.run(due_at, error, id);
    },
    fail(id: string, at: number, error: string): void {
      settle.run(id, 'failed', at, error);
    },
  };
}
