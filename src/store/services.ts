import { type Db, integer, oneOf, sql, type Transact, text } from '../shared/sql/sql.ts';

// Tables by which the processes of one database inform each other.

type Service = 'desk' | 'records';

/** The public addresses at which the services were last served. */
export function servedTable(db: Db) {
  const { upsert, one } = sql(db);
  const origin = one('SELECT origin FROM served WHERE service = ?', text);
  const note = upsert('served', ['service'], ['origin']);
  return {
    origin: (service: Service): string | null => origin(service),
    note(service: Service, at: string): void {
      if (origin(service) !== at) note({ service, origin: at });
    },
  };
}

/** Services that receive requests through a proxy on this machine that is missing from TRUSTED_PROXIES. */
export function forwardedTable(db: Db) {
  const { run, upsert, all } = sql(db);
  /** `at` says when it was last seen, in ms. */
  const FORWARDED = { service: oneOf('desk', 'records'), address: text, at: integer };
  const forget = run('DELETE FROM forwarded WHERE service = ?');
  return {
    list: all('SELECT service, address, at FROM forwarded ORDER BY service', FORWARDED),
    note: upsert('forwarded', ['service'], ['address', 'at']),
    forget: (service: Service) => void forget(service),
  };
}

export type LeaseTable = ReturnType<typeof leaseTable>;

/** Leases for jobs that only one process per database may do at a time. */
export function leaseTable(db: Db, transact: Transact) {
  const { run, upsert, one, has } = sql(db);
  const find = one('SELECT owner, until FROM duties WHERE name = ?', { owner: text, until: integer });
  const put = upsert('duties', ['name'], ['owner', 'until']);
  const release = run('DELETE FROM duties WHERE name = ? AND owner = ?');

  const isOthers = (name: string, owner: string, now: number, lasts: number): boolean => {
    const found = find(name);
    if (found === null || found.owner === owner) return false;
    // No lease lasts that long, so the clock was set back, and the owner may be dead.
    return found.until > now && found.until <= now + 2 * lasts;
  };

  return {
    /** Whether any process holds a lease at a time (ms); every running server holds one. */
    isAnyHeld: has('SELECT 1 FROM duties WHERE until > ? LIMIT 1'),
    /**
     * Acquires or renews a lease for `lasts` ms. Returns `acquired` when this process did not hold it before, and null
     * when another process holds it. The lease starts at the time that `now` returns under the write lock.
     */
    acquire(name: string, owner: string, now: () => number, lasts: number): 'acquired' | 'renewed' | null {
      // Checking first avoids the write lock when another process holds the lease.
      if (isOthers(name, owner, now(), lasts)) return null;
      return transact(() => {
        // Read the clock under the lock: another process may have taken the lease while this one waited.
        const at = now();
        if (isOthers(name, owner, at, lasts)) return null;
        const before = find(name);
        put({ name, owner, until: at + lasts });
        return before?.owner === owner ? 'renewed' : 'acquired';
      });
    },
    /** Releases a lease before it expires. */
    release: (name: string, owner: string) => void release(name, owner),
  };
}
