import type { LeasedHost, Settled } from '../records/recording.ts';
import type { Db } from './open.ts';

/** A lease takes its hosts from so many times as many that are due, so that no operator fills it while others wait. */
const FAIR_WINDOW = 8;

/** A hostname to be looked at. */
export interface LeasedName {
  hostname: string;
  /** Whose name servers it has, as far as is known. */
  operator: string;
}

export interface QueueStats {
  watched: number;
  /** Due now and not leased. */
  due: number;
  leased: number;
  /** Ms; null when nothing is watched. */
  next_due_at: number | null;
}

interface LeasedRow {
  id: number;
  hostname: string;
  unicode: string;
  registrable_domain: string | null;
  failures: number;
  observed_at: number | null;
  receipt_hash: string | null;
}

/** The queue of hostnames that are due, and who has leased them. Times in ms. */
export function queueTable(db: Db) {
  // One statement finds and takes them: no other process comes between.
  const lease = db.prepare(
    `UPDATE hostnames SET lease = ?1, leased_by = ?2, due_at = ?3
     WHERE id IN (
       SELECT id FROM (
         SELECT id, due_at, row_number() OVER (PARTITION BY operator ORDER BY due_at, id) AS turn
         FROM (SELECT id, due_at, operator FROM hostnames
               WHERE state = 'watched' AND due_at <= ?4 ORDER BY due_at, id LIMIT ?5))
       ORDER BY turn, due_at, id LIMIT ?6)
     RETURNING hostname, operator`,
  );
  const leaseThese = db.prepare(
    `UPDATE hostnames SET lease = ?1, leased_by = ?2, due_at = ?3
     WHERE hostname IN (SELECT value FROM json_each(?4)) AND state = 'watched' RETURNING hostname, operator`,
  );
  const leased = db.prepare(
    `SELECT hostnames.id, hostname, unicode, registrable_domain, failures, observed_at, receipt_hash
     FROM hostnames LEFT JOIN observations ON observations.seq = hostnames.seq
     WHERE lease = ? AND hostname = ? AND state = 'watched'`,
  );
  const giveBack = db.prepare(
    "UPDATE hostnames SET lease = NULL, leased_by = NULL, due_at = ?2 WHERE lease = ?1 AND state = 'watched'",
  );
  const settle = db.prepare(
    `UPDATE hostnames SET lease = NULL, leased_by = NULL, seq = ?2, due_at = ?3, looked_at = ?4, failures = ?5, operator = ?6
     WHERE id = ?1`,
  );
  const due = db.prepare("SELECT count(*) AS count FROM hostnames WHERE state = 'watched' AND due_at <= ?");
  const held = db.prepare('SELECT count(*) AS count FROM hostnames WHERE lease IS NOT NULL AND due_at > ?');
  const watched = db.prepare("SELECT count FROM hostname_counts WHERE state = 'watched'");
  const owner = db.prepare('SELECT leased_by FROM hostnames WHERE lease = ? LIMIT 1');
  const next = db.prepare("SELECT due_at FROM hostnames WHERE state = 'watched' ORDER BY due_at, id LIMIT 1");

  const last = db.prepare("SELECT due_at FROM hostnames WHERE state = 'watched' ORDER BY due_at DESC, id DESC LIMIT 1");
  const pullForward = db.prepare("UPDATE hostnames SET due_at = ?1 WHERE state = 'watched' AND due_at > ?2");

  const nextDue = (): number | null => (next.get() as { due_at: number } | undefined)?.due_at ?? null;

  return {
    /**
     * Takes at most `max` hostnames that are due, for the holder of `id` alone until
     * `until`, spread over operators; what is not settled by then is due again. `id`
     * must not have been used before.
     */
    lease: ({ id, owner, max, until, now }: { id: string; owner: string; max: number; until: number; now: number }) =>
      lease.all(id, owner, until, now, max * FAIR_WINDOW, max) as LeasedName[],
    /** Takes these hostnames, due or not, and from whoever has leased them; those that are not watched are left out. */
    leaseThese: ({ id, owner, names, until }: { id: string; owner: string; names: string[]; until: number }) =>
      leaseThese.all(id, owner, until, JSON.stringify(names)) as LeasedName[],
    /**
     * Makes due at `now` what no schedule puts after `horizon`: a clock that was
     * set back, or an interval that is shorter now, would have it wait for long.
     */
    pullForward(now: number, horizon: number): void {
      const latest = (last.get() as { due_at: number } | undefined)?.due_at ?? 0;
      if (latest > horizon) pullForward.run(now, horizon);
    },
    /** Whether a hostname is due and not leased: taking none would make other writers wait. */
    isDue: (now: number): boolean => (nextDue() ?? Number.POSITIVE_INFINITY) <= now,
    /** Who holds a lease; null when it holds nothing any more. */
    leaseOwner: (id: string): string | null =>
      (owner.get([id]) as { leased_by: string } | undefined)?.leased_by ?? null,
    /** The host while this lease holds it; null when the lease is lost. */
    leased: (id: string, hostname: string): LeasedHost | null => {
      const row = (leased.all(id, hostname) as LeasedRow[])[0];
      if (row === undefined) return null;
      const { observed_at, receipt_hash, ...host } = row;
      return { ...host, last: observed_at === null || receipt_hash === null ? null : { observed_at, receipt_hash } };
    },
    /** Ends a lease: what was not looked at is due at `now`. Gives how many that were. */
    giveBack: (id: string, now: number): number => giveBack.run(id, now).changes,
    settle: (host: number, { seq, due_at, looked_at, failures, operator }: Settled): void => {
      settle.run(host, seq, due_at, looked_at, failures, operator);
    },
    stats: (now: number): QueueStats => ({
      watched: (watched.get() as { count: number }).count,
      due: (due.get(now) as { count: number }).count,
      leased: (held.get(now) as { count: number }).count,
      next_due_at: nextDue(),
    }),
  };
}
