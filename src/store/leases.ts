import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

/** Work that one process does at a time, whoever else shares the database. */
export interface LeaseTable {
  /**
   * Takes or renews a lease for so many ms. `acquired` when it was another's or nobody's before, null when another process
   * holds it. The clock is read once no other process can take it.
   */
  acquire(name: string, owner: string, now: () => number, lasts: number): 'acquired' | 'renewed' | null;
  /** Gives a lease up before its time. */
  release(name: string, owner: string): void;
  /** Whether any process holds a lease, as every running server does. */
  isAnyHeld(now: number): boolean;
}

/** Leases: who does what only one process may do at a time. */
export function leaseTable(db: Db, transact: Transact): LeaseTable {
  const { run, one } = sql(db);
  const find = one('SELECT owner, until FROM duties WHERE name = ?', { owner: text, until: integer });
  const put = run(
    `INSERT INTO duties (name, owner, until) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET owner = excluded.owner, until = excluded.until`,
  );
  const held = one('SELECT 1 FROM duties WHERE until > ? LIMIT 1', integer);

  const isOthers = (name: string, owner: string, now: number, lasts: number): boolean => {
    const found = find(name);
    if (found === null || found.owner === owner) return false;
    // No lease lasts that long: the clock was set back, and its owner may be gone.
    return found.until > now && found.until <= now + 2 * lasts;
  };

  return {
    isAnyHeld: (now) => held(now) !== null,
    acquire(name, owner, now, lasts) {
      // Checking first spares other writers a wait.
      if (isOthers(name, owner, now(), lasts)) return null;
      return transact(() => {
        // Read under the lock: another process may have taken it while this one waited.
        const at = now();
        if (isOthers(name, owner, at, lasts)) return null;
        const before = find(name);
        put(name, owner, at + lasts);
        return before?.owner === owner ? 'renewed' : 'acquired';
      });
    },
    release: run('DELETE FROM duties WHERE name = ? AND owner = ?'),
  };
}
