import { type Db, integer, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';
import { RECEIPT_HASH } from './records-receipts.ts';

/**
 * A lease chooses from this many times as many due hosts as it takes, so that no single operator of name servers fills
 * it.
 */
const FAIR_WINDOW = 8;

/** A hostname to probe, and the operator of its name servers, if known. */
const LEASED_NAME = { hostname: text, operator: text };
type LeasedName = Read<typeof LEASED_NAME>;

/** A lease on hostnames: its holder, and when it ends, in ms. */
export interface Lease {
  id: string;
  owner: string;
  until: number;
}

/** The queue of due hostnames, and their leases. Times in ms. */
export function queueTable(db: Db) {
  const { run, one, number, all } = sql(db);
  // One statement finds and leases the hostnames, so processes cannot race.
  const lease = all(
    `UPDATE hostnames SET lease = ?1, leased_by = ?2, due_at = ?3
     WHERE id IN (
       SELECT id FROM (
         SELECT id, due_at, prompt,
           row_number() OVER (PARTITION BY operator ORDER BY prompt DESC, due_at, id) AS turn
         FROM (SELECT * FROM (SELECT id, due_at, operator, prompt FROM hostnames
                 WHERE state = 'watched' AND prompt = 1 AND due_at <= ?4 ORDER BY due_at, id LIMIT ?5)
               UNION
               SELECT * FROM (SELECT id, due_at, operator, prompt FROM hostnames
                 WHERE state = 'watched' AND due_at <= ?4 ORDER BY due_at, id LIMIT ?5)))
       ORDER BY turn, prompt DESC, due_at, id LIMIT ?6)
     RETURNING hostname, operator`,
    LEASED_NAME,
  );
  const leaseNames = all(
    `UPDATE hostnames SET lease = ?1, leased_by = ?2, due_at = ?3
     WHERE hostname IN (SELECT value FROM json_each(?4)) AND state = 'watched' RETURNING hostname, operator`,
    LEASED_NAME,
  );
  const requeue = run(
    `UPDATE hostnames SET lease = NULL, leased_by = NULL, seq = ?2, due_at = ?3, looked_at = ?4, failures = ?5, operator = ?6,
       prompt = ?7
     WHERE id = ?1`,
  );
  const due = number("SELECT count(*) FROM hostnames WHERE state = 'watched' AND due_at <= ?");
  const held = number('SELECT count(*) FROM hostnames WHERE lease IS NOT NULL AND due_at > ?');
  const watched = number("SELECT count FROM hostname_counts WHERE state = 'watched'");
  const nextDue = one("SELECT due_at FROM hostnames WHERE state = 'watched' ORDER BY due_at, id LIMIT 1", integer);
  const lastDue = number("SELECT due_at FROM hostnames WHERE state = 'watched' ORDER BY due_at DESC, id DESC LIMIT 1");
  const pullForward = run("UPDATE hostnames SET due_at = ?1 WHERE state = 'watched' AND due_at > ?2");

  return {
    /**
     * Leases up to `max` due hostnames until `until`, spread over operators, those of proven owners first. Hostnames
     * not requeued by then are due again. `id` must be new.
     */
    lease: ({ id, owner, max, until, now }: Lease & { max: number; now: number }): LeasedName[] =>
      lease(id, owner, until, now, max * FAIR_WINDOW, max),
    /** Leases the given hostnames, due or not, even from other holders. Skips those that are not watched. */
    leaseNames: ({ id, owner, names, until }: Lease & { names: string[] }): LeasedName[] =>
      leaseNames(id, owner, until, JSON.stringify(names)),
    /**
     * Makes hostnames due at `now` if they are scheduled after `horizon`, because the clock was set back or the interval
     * was shortened.
     */
    pullForward(now: number, horizon: number): void {
      if (lastDue() > horizon) pullForward(now, horizon);
    },
    /** Whether any hostname is due and not leased. Checking first avoids the write lock when nothing is due. */
    isDue: (now: number): boolean => (nextDue() ?? Number.POSITIVE_INFINITY) <= now,
    /** The holder of a lease; null when the lease no longer covers any hostname. */
    leaseOwner: one('SELECT leased_by FROM hostnames WHERE lease = ? LIMIT 1', text),
    /** The host while this lease holds it; null when the lease was lost. */
    leased: one(
      `SELECT hostnames.id, hostname, unicode, registrable_domain, failures, observed_at, ${RECEIPT_HASH} AS receipt_hash
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
    ),
    /** Ends a lease: hostnames not probed yet are due at a time. Returns their number. */
    release: run(
      "UPDATE hostnames SET lease = NULL, leased_by = NULL, due_at = ?2 WHERE lease = ?1 AND state = 'watched'",
    ),
    /** Ends a host's lease after its observation, and puts it back into the queue. */
    requeue(
      host: number,
      update: {
        seq: number;
        due_at: number;
        looked_at: number;
        failures: number;
        operator: string;
        /** Whether the host is probed for a proven owner. */
        prompt?: boolean;
      },
    ): void {
      const { seq, due_at, looked_at, failures, operator, prompt = false } = update;
      requeue(host, seq, due_at, looked_at, failures, operator, prompt ? 1 : 0);
    },
    /** `due` counts hostnames due now and not leased; `next_due_at` is null when nothing is watched. */
    stats: (now: number) => ({ watched: watched(), due: due(now), leased: held(now), next_due_at: nextDue() }),
  };
}
