import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/shared/sql/open.ts';
import { type Db, prepareEagerly } from '../../src/shared/sql/sql.ts';
import { logTables } from '../../src/store/log.ts';
import { recordsTables } from '../../src/store/records/records.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';

/** Statements that read everything by intent, and such as end at their first row. */
const READS_ALL = [
  // A correction of the clock, which an operator makes once.
  'SELECT min(seq) FROM observations WHERE observed_at > ?',
  'SELECT max(seq) FROM observations',
  'UPDATE hostnames SET added_at = ?1 WHERE added_at > ?1',
  'UPDATE sightings SET first_seen = min(first_seen, ?1), last_seen = ?1 WHERE last_seen > ?1',
  'UPDATE observations SET signed_at = coalesce(signed_at, observed_at), observed_at = ?1 WHERE observed_at > ?1',
  'SELECT 1 WHERE EXISTS (SELECT 1 FROM hostnames WHERE looked_at > ?1 OR added_at > ?1) OR (SELECT at FROM deltas ORDER BY seq DESC LIMIT 1) > ?1',
  'DELETE FROM host_changes WHERE day >= ?',
  'DELETE FROM facet_days WHERE day > ?1',
  'UPDATE facet_days_start SET day = ?1 WHERE day > ?1',
  // For an audit.
  'SELECT id, hostname FROM hostnames ORDER BY id',
  'SELECT count(*) FROM observations',
  'SELECT count(*) AS count, coalesce(max(seq), 0) AS newest FROM deltas',
  // Erases a hostname.
  'SELECT id, value FROM searched_values WHERE host = ?1 UNION ALL SELECT id, value FROM searched_values WHERE host IS NULL AND value IN (SELECT value FROM json_each(?2)) AND NOT EXISTS ( SELECT 1 FROM sightings WHERE substr(sightings.value, 1, 64) = searched_values.value AND sightings.value = searched_values.value)',
  // Three rows.
  'SELECT state, count FROM hostname_counts',
  // The last one only, or the first: read from an end.
  'SELECT max(seq) AS seq FROM observations',
  'SELECT max(id) FROM record_bodies',
  'SELECT max(id) FROM body_patches',
  'SELECT max(id) FROM shared_circumstances',
  'SELECT max(seq) FROM erased_observations',
  'UPDATE records_nodes SET is_settled = 1 WHERE id = (SELECT max(id) FROM records_nodes)',
  'SELECT looked_at AS at FROM hostnames WHERE looked_at IS NOT NULL ORDER BY looked_at DESC LIMIT 1',
  "SELECT due_at FROM hostnames WHERE state = 'watched' ORDER BY due_at, id LIMIT 1",
  "SELECT due_at FROM hostnames WHERE state = 'watched' ORDER BY due_at DESC, id DESC LIMIT 1",
  'SELECT seq, at FROM deltas ORDER BY seq DESC LIMIT 1',
  'SELECT observed_at AS at FROM observations ORDER BY seq DESC LIMIT 1',
];
/** Runs through the archive's gate, without the foreign keys that would look for rows which name each of these. */
const THROUGH_GATE = /^DELETE FROM (?:observations|record_bodies|body_patches|shared_circumstances) /;
/**
 * A lease sorts the few that it chooses from; opt-outs and erasures group what one host has; the changes of a name and of
 * those below it in one day are found host by host.
 */
const SORTS = [
  'UPDATE hostnames SET lease = ?1, leased_by = ?2, due_at = ?3',
  'UPDATE change_counts SET',
  'SELECT DISTINCT value FROM sightings WHERE host = ?',
  'SELECT id, hostname, path, registrable_domain FROM hostnames WHERE path = ?1 OR',
];
const BY_NAME = ' FROM hostnames AS h CROSS JOIN deltas AS d ';

test('no statement of the records reads a whole table or sorts what it finds', (t) => {
  const db = openDatabase({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => db.close());
  const statements: string[] = [];
  const listening = {
    prepare(sql: string) {
      statements.push(sql.replaceAll(/\s+/g, ' ').trim());
      return db.prepare(sql);
    },
  };
  prepareEagerly(listening as Db);
  recordsTables(listening as Db, (work) => work(), logTables(listening as Db));
  assert(statements.length > 50);
  for (const sql of statements) {
    // An archive has a few objects a month; of public dumps there is a row a day.
    if (
      THROUGH_GATE.test(sql) ||
      READS_ALL.includes(sql) ||
      sql.startsWith('INSERT') ||
      sql.includes(' FROM archive_objects') ||
      /(?: FROM|UPDATE) dumps\b/.test(sql)
    )
      continue;
    const plan = (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail);
    for (const detail of plan) {
      const isScan =
        /^SCAN (?:hostnames|observations|deltas|d|h|sightings|facets|facet_counts|change_counts|standing|record_bodies|opt_outs|log_\w+)\b/;
      // A search that names no index is one for the least or the greatest, row by row.
      assert(!isScan.test(detail) && !/^SEARCH \w+$/.test(detail), `${sql}\n${plan.join('\n')}`);
      if (SORTS.some((beginning) => sql.startsWith(beginning)) || sql.includes(BY_NAME)) continue;
      assert(!/TEMP B-TREE/.test(detail), `${sql}\n${plan.join('\n')}`);
    }
  }
});
