import type { LeasedHost, QueueUpdate } from '../records/recording.ts';
import { type Db, integer, orNull, sql, text } from './sql.ts';

/**
 * A lease picks from this many times its size of due hosts, so that no single operator of name servers fills
 * it.
 */
const FAIR_WINDOW = 8;

/** A hostname to probe. */
export interface LeasedName {
  hostname: string;
  /** The operator of its name servers, if known. */
  operator: string;
}

export interface QueueStats {
  watched: number;
  /** Due now and not leased. */
  due: number;
  leased: number;
  /** In ms; null when nothing is watched. */
  next_due_at: number | null;
}

const LEASED_NAME = { hostname: text, operator: text };

/** A lease on hostnames: its holder, and when it ends, in ms. */
export interface Lease {
  id: string;
  owner: string;
  until: number;
}

/** The queue of due hostnames, and their leases. Times in ms. */
export interface QueueTable {
  /**
   * Leases up to `max` due hostnames until `until`, spread over operators. Hostnames that are not requeued by then are
   * due again. `id` must be new.
   */
  lease(lease: Lease & { max: number; now: number }): LeasedName[];
  /** Leases the given hostnames, due or not, even from other holders. Skips those that are not watched. */
  leaseNames(lease: Lease & { names: string[] }): LeasedName[];
  /**
   * Makes hostnames due at `now` if they are scheduled after `horizon`, because the clock was set back or the interval
   * was shortened.
   */
  pullForward(now: number, horizon: number): void;
  /** Whether any hostname is due and not leased. Checking first avoids the write lock when nothing is due. */
  isDue(now: number): boolean;
  /** The holder of a lease; null when the lease no longer covers any hostname. */
  leaseOwner(id: string): string | null;
  /** The host while this lease holds it; null when the lease was lost. */
  leased(id: string, hostname: string): LeasedHost | null;
  /** Ends a lease: hostnames that were not probed are due at `now`. Returns their number. */
  release(id: string, now: number): number;
  requeue(host: number, update: QueueUpdate): void;
  stats(now: number): QueueStats;
}

export function queueTable(db: Db): QueueTable {
  const { run, one, all } = sql(db);
  // One statement finds and leases the hostnames, so processes cannot race.
  const lease = all(
    `UPDATE hostnames SET lease = ?1, leased_by = ?2, due_at = ?3
     WHERE id IN (
       SELECT id FROM (
         SELECT id, due_at, row_number() OVER (PARTITION BY operator ORDER BY due_at, id) AS turn
         FROM (SELECT id, due_at, operator FROM hostnames
               WHERE state = 'watched' AND due_at <= ?4 ORDER BY due_at, id LIMIT ?5))
       ORDER BY turn, due_at, id LIMIT ?6)
     RETURNING hostname, operator`,
    LEASED_NAME,
  );
  const leaseNames = all(
    `UPDATE hostnames SET lease = ?1, leased_by = ?2, due_at = ?3
     WHERE hostname IN (SELECT value FROM json_each(?4)) AND state = 'watched' RETURNING hostname, operator`,
    LEASED_NAME,
  );
  const leased = one(
    `SELECT hostnames.id, hostname, unicode, registrable_domain, failures, observed_at, receipt_hash
     FROM hostnames LEFT JOIN observations ON observations.seq = hostnames.seq
     WHERE lease = ? AND hostname = ? AND state = 'watched'`,
    {
      id: integer,
      hostname: text,
      unicode: text,
      registrable_domain: orNull(text),
      failures: integer,
      observed_at: orNull(integer),
      receipt_hash: orNull(text),
    },
    ({ observed_at, receipt_hash, ...host }) => ({
      ...host,
      last: observed_at === null || receipt_hash === null ? null : { observed_at, receipt_hash },
    }),
  );
  const release = run(
    "UPDATE hostnames SET lease = NULL, leased_by = NULL, due_at = ?2 WHERE lease = ?1 AND state = 'watched'",
  );
  const requeue = run(
    `UPDATE hostnames SET lease = NULL, leased_by = NULL, seq = ?2, due_at = ?3, looked_at = ?4, failures = ?5, operator = ?6
     WHERE id = ?1`,
  );
  const due = one("SELECT count(*) AS count FROM hostnames WHERE state = 'watched' AND due_at <= ?", integer);
  const held = one('SELECT count(*) AS count FROM hostnames WHERE lease IS NOT NULL AND due_at > ?', integer);
  const watched = one("SELECT count FROM hostname_counts WHERE state = 'watched'", integer);
  const nextDue = one("SELECT due_at FROM hostnames WHERE state = 'watched' ORDER BY due_at, id LIMIT 1", integer);
  const lastDue = one(
    "SELECT due_at FROM hostnames WHERE state = 'watched' ORDER BY due_at DESC, id DESC LIMIT 1",
    integer,
  );
  const pullForward = run("UPDATE hostnames SET due_at = ?1 WHERE state = 'watched' AND due_at > ?2");

  return {
    lease: ({ id, owner, max, until, now }) => lease(id, owner, until, now, max * FAIR_WINDOW, max),
    leaseNames: ({ id, owner, names, until }) => leaseNames(id, owner, until, JSON.stringify(names)),
    pullForward(now, horizon) {
      if ((lastDue() ?? 0) > horizon) pullForward(now, horizon);
    },
    isDue: (now) => (nextDue() ?? Number.POSITIVE_INFINITY) <= now,
    leaseOwner: one('SELECT leased_by FROM hostnames WHERE lease = ? LIMIT 1', text),
    leased,
    release: (id, now) => release(id, now),
    requeue(host, { seq, due_at, looked_at, failures, operator }) {
      requeue(host, seq, due_at, looked_at, failures, operator);
    },
    stats: (now) => ({
      watched: watched() ?? 0,
      due: due(now) ?? 0,
      leased: held(now) ?? 0,
      next_due_at: nextDue(),
    }),
  };
}
