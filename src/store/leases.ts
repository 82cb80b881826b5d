import type { Db } from './open.ts';

/** Work that one process does at a time, whoever else shares the database. */
export interface LeaseTable {
  /**
   * Takes or renews a lease for so many ms. `taken` when it was another's or nobody's before, null when another process
   * holds it. The clock is read once no other process can take it.
   */
  take(name: string, owner: string, now: () => number, lasts: number): 'taken' | 'kept' | null;
  /** Gives a lease up before its time. */
  leave(name: string, owner: string): void;
  /** Whether any process holds a lease, as every running server does. */
  isAnyHeld(now: number): boolean;
}

/** Who does what only one process may do at a time. */
export function leaseTable(db: Db, transact: <T>(work: () => T) => T): LeaseTable {
  const find = db.prepare('SELECT owner, until FROM duties WHERE name = ?');
  const put = db.prepare(
    `INSERT INTO duties (name, owner, until) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET owner = excluded.owner, until = excluded.until`,
  );
  const leave = db.prepare('DELETE FROM duties WHERE name = ? AND owner = ?');
  const held = db.prepare('SELECT 1 FROM duties WHERE until > ? LIMIT 1');

  const isOthers = (name: string, owner: string, now: number, lasts: number): boolean => {
    const [found] = find.all(name) as { owner: string; until: number }[];
    if (found === undefined || found.owner === owner) return false;
    // Nobody has a duty for so long: the clock was set back, and who has it may be no more.
    return found.until > now && found.until <= now + 2 * lasts;
  };

  return {
    isAnyHeld: (now) => held.all(now).length > 0,
    take(name, owner, now, lasts) {
      // Asking first costs no other writer a wait.
      if (isOthers(name, owner, now(), lasts)) return null;
      return transact(() => {
        // Read under the lock: another process may have taken it while this one waited.
        const at = now();
        if (isOthers(name, owner, at, lasts)) return null;
        const [before] = find.all(name) as { owner: string }[];
        put.run(name, owner, at + lasts);
        return before?.owner === owner ? 'kept' : 'taken';
      });
    },
    leave(name, owner) {
      leave.run(name, owner);
    },
  };
}
