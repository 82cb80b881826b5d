import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

/** Leases for jobs that only one process per database may do at a time. */
export interface LeaseTable {
  /**
   * Acquires or renews a lease for `lasts` ms. Returns `acquired` when this process did not hold it before, and null
   * when another process holds it. The lease starts at the time that `now` returns under the write lock.
   */
  acquire(name: string, owner: string, now: () => number, lasts: number): 'acquired' | 'renewed' | null;
  /** Releases a lease before it expires. */
  release(name: string, owner: string): void;
  /** Whether any process holds a lease; every running server holds one. */
  isAnyHeld(now: number): boolean;
}

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
    // No lease lasts that long, so the clock was set back, and the owner may be dead.
    return found.until > now && found.until <= now + 2 * lasts;
  };

  return {
    isAnyHeld: (now) => held(now) !== null,
    acquire(name, owner, now, lasts) {
      // Checking first avoids the write lock when another process holds the lease.
      if (isOthers(name, owner, now(), lasts)) return null;
      return transact(() => {
        // Read the clock under the lock: another process may have taken the lease while this one waited.
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
