import { dayOf, daySpan } from '../time.ts';
import { type Db, integer, orNull, sql } from './sql.ts';

/** Times of the domain records that a clock entered while it ran ahead. */
export interface RecordsClockTables {
  /** The numbers of the observations from the first that is later than `time` (ms) to the newest; null when none is. */
  observedAfter(time: number): { first: number; last: number } | null;
  /** Whether any time that follows from the observations is later than `time`. */
  isAhead(time: number): boolean;
  /**
   * Lowers every time later than `time` in what is derived from the observations, those of their receipts excepted. Call
   * it after the correction was appended.
   */
  capTimes(time: number): void;
}

export function recordsClockTables(db: Db): RecordsClockTables {
  const { run, one } = sql(db);
  const first = one('SELECT min(seq) FROM observations WHERE observed_at > ?', orNull(integer));
  const newest = one('SELECT max(seq) FROM observations', orNull(integer));
  const ahead = one(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM hostnames WHERE looked_at > ?1 OR added_at > ?1)
       OR (SELECT at FROM deltas ORDER BY seq DESC LIMIT 1) > ?1`,
    integer,
  );
  const caps = [
    `UPDATE observations SET signed_at = coalesce(signed_at, observed_at), observed_at = ?1 WHERE observed_at > ?1`,
    'UPDATE sightings SET first_seen = min(first_seen, ?1), last_seen = ?1 WHERE last_seen > ?1',
    'UPDATE deltas SET at = ?1 WHERE at > ?1',
    'UPDATE hostnames SET looked_at = ?1, due_at = min(due_at, ?1) WHERE looked_at > ?1',
    'UPDATE hostnames SET added_at = ?1 WHERE added_at > ?1',
  ].map((text) => run(text));
  const uncount = run('DELETE FROM change_counts WHERE day >= ?');
  const recount = run(
    `INSERT INTO change_counts SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, signal, kind, count(*)
     FROM deltas JOIN hostnames ON hostnames.id = deltas.host WHERE at >= ? AND state <> 'opted_out' GROUP BY 1, 2, 3`,
  );
  return {
    observedAfter(time) {
      const from = first(time);
      const last = newest();
      return from === null || last === null ? null : { first: from, last };
    },
    isAhead: (time) => ahead(time) !== null,
    capTimes(time) {
      for (const cap of caps) cap(time);
      const day = dayOf(time);
      uncount(day);
      recount(daySpan(day).from);
    },
  };
}
