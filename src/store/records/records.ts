import { dayOf, daySpan } from '../../proof/time.ts';
import { type Db, integer, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';
import type { LogTables } from '../../shared/transparency/log-tables.ts';
import { archiveTables } from './archive.ts';
import { dumpTables } from './dumps.ts';
import { erasureTables } from './erasure.ts';
import { nodeTable } from './node.ts';
import { recordsFaults } from './records-audit.ts';
import { deltaTable } from './records-deltas.ts';
import { facetTables } from './records-facets.ts';
import { hostnameTable } from './records-hostnames.ts';
import { observationTable } from './records-observations.ts';
import { queueTable } from './records-queue.ts';
import { rotationTables } from './records-rotations.ts';
import { sightingTables } from './records-sightings.ts';
import { valueTables } from './records-values.ts';

/** All tables of the domain records. Observations are logged in `log`. */
export function recordsTables(db: Db, transact: Transact, log: Pick<LogTables, 'append'>) {
  const archive = archiveTables(db, transact);
  const observations = observationTable(db);
  const facets = facetTables(db);
  return {
    transact,
    ...hostnameTable(db, transact, facets),
    ...queueTable(db),
    ...observations,
    /** The number of the next observation: above all in the database or the archive, and all erased ones. */
    nextSeq: () => Math.max(observations.nextSeq() - 1, archive.through(), archive.newestErased()) + 1,
    logLeaf: (entry: string): void => log.append('records', entry),
    ...clockTables(db),
    ...deltaTable(db),
    ...sightingTables(db),
    ...rotationTables(db),
    ...facets,
    ...valueTables(db, transact),
    ...damageTable(db),
    archive,
    dumps: dumpTables(db),
    node: nodeTable(db),
    erasure: erasureTables(db, archive),
    /** Contradictions between these tables; empty when they agree. */
    tableFaults: (): string[] => recordsFaults(db),
  };
}

/** Observations with values cut by an older version, accepted as such by an operator: appended, never changed. */
function damageTable(db: Db) {
  const { insert, one, has, all } = sql(db);
  /** `at` in ms. */
  const DAMAGED = { seq: integer, at: integer, reason: text };
  return {
    damagedObservations: all('SELECT seq, at, reason FROM damaged_observations ORDER BY seq', DAMAGED),
    markDamaged: insert('damaged_observations', DAMAGED),
    /** Whether any observation of a host was marked. */
    isDamaged: has('SELECT 1 FROM damaged_hosts WHERE host = ?'),
    /** The host of an observation, whether or not it is shown; null when there is no such observation. */
    hostOfObservation: one(
      'SELECT id, hostname FROM hostnames WHERE id = (SELECT host FROM observations WHERE observations.seq = ?)',
      { id: integer, hostname: text },
    ),
  };
}

/** Finds and lowers times stored by a clock that ran ahead. */
function clockTables(db: Db) {
  const { run, one, has } = sql(db);
  const first = one('SELECT min(seq) FROM observations WHERE observed_at > ?', orNull(integer));
  const newest = one('SELECT max(seq) FROM observations', orNull(integer));
  const caps = [
    `UPDATE observations SET signed_at = coalesce(signed_at, observed_at), observed_at = ?1 WHERE observed_at > ?1`,
    'UPDATE archived_hosts SET first_at = ?1 WHERE first_at > ?1',
    'UPDATE sightings SET first_seen = min(first_seen, ?1), last_seen = ?1 WHERE last_seen > ?1',
    'UPDATE deltas SET at = ?1 WHERE at > ?1',
    'UPDATE hostnames SET looked_at = ?1, due_at = min(due_at, ?1) WHERE looked_at > ?1',
    'UPDATE hostnames SET added_at = ?1 WHERE added_at > ?1',
    'UPDATE owner_notes SET at = ?1 WHERE at > ?1',
  ].map((text) => run(text));
  const uncount = run('DELETE FROM change_counts WHERE day >= ?');
  const uncountHosts = run('DELETE FROM host_changes WHERE day >= ?');
  const recountHosts = run(
    `INSERT INTO host_changes SELECT host, strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, count(*)
     FROM deltas WHERE at >= ? AND rotation IS NOT 'answer' GROUP BY 1, 2`,
  );
  const capFacets = [
    `INSERT OR REPLACE INTO facet_days SELECT DISTINCT later.kind, later.name, ?1, coalesce(facet_counts.count, 0)
     FROM facet_days AS later LEFT JOIN facet_counts USING (kind, name) WHERE day > ?1`,
    'DELETE FROM facet_days WHERE day > ?1',
    'UPDATE facet_days_start SET day = ?1 WHERE day > ?1',
  ].map((text) => run(text));
  const recount = run(
    `INSERT INTO change_counts SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, signal, kind, count(*)
     FROM deltas JOIN hostnames ON hostnames.id = deltas.host WHERE at >= ? AND rotation IS NOT 'answer' AND state <> 'opted_out' GROUP BY 1, 2, 3`,
  );
  return {
    /** The numbers of the first observation later than `time` (ms) and of the newest one; null if there is none. */
    observedAfter(time: number): { first: number; last: number } | null {
      const from = first(time);
      const last = newest();
      return from === null || last === null ? null : { first: from, last };
    },
    /** Whether any time derived from observations is later than a time (ms). */
    isAhead: has(
      `SELECT 1 WHERE EXISTS (SELECT 1 FROM hostnames WHERE looked_at > ?1 OR added_at > ?1)
         OR (SELECT at FROM deltas ORDER BY seq DESC LIMIT 1) > ?1`,
    ),
    /**
     * Lowers all times later than `time` in tables derived from observations; receipts keep theirs. Call it after the
     * correction was appended.
     */
    capTimes(time: number): void {
      for (const cap of caps) cap(time);
      const day = dayOf(time);
      uncount(day);
      recount(daySpan(day).from);
      uncountHosts(day);
      recountHosts(daySpan(day).from);
      for (const cap of capFacets) cap(day);
    },
  };
}
