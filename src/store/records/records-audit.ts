import { type Db, integer, sql } from '../../shared/sql/sql.ts';

/** Without gaps, the highest number equals the count. */
const missing = (table: string): string =>
  `SELECT 1 FROM (SELECT count(*) AS n, min(seq) AS first, max(seq) AS last FROM ${table}) WHERE first <> 1 OR last <> n`;

/** A value as older versions indexed it: up to U+0000, where SQL's `length` stops too. */
const INDEXED = 'substr(value, 1, length(value))';

/** Cross-checks of the tables. Each query returns a row per fault. */
const CHECKS: [fault: string, sql: string, when?: string][] = [
  [
    'observations: a number is missing',
    `WITH archived AS (SELECT coalesce(max(through), 0) AS through FROM archive_manifests),
       numbers AS (
         SELECT seq FROM observations, archived WHERE seq > through
         UNION SELECT seq FROM erased_observations, archived WHERE seq > through)
     SELECT 1 FROM archived WHERE (SELECT count(*) FROM numbers) <> (SELECT coalesce(max(seq), through) - through FROM numbers)`,
  ],
  [
    'observations: a stored part belongs to none of them',
    `SELECT * FROM (SELECT id FROM record_bodies EXCEPT SELECT body FROM observations)
     UNION ALL SELECT * FROM (SELECT id FROM body_patches EXCEPT SELECT patch FROM observations)
     UNION ALL SELECT * FROM (SELECT id FROM shared_circumstances EXCEPT SELECT shared FROM observations)`,
    // Pruning and erasing leave some until the next sweep.
    'NOT EXISTS (SELECT 1 FROM archive_manifests) AND NOT EXISTS (SELECT 1 FROM erased_observations)',
  ],
  ['deltas: a number is missing', missing('deltas')],
  [
    'deltas: time goes back',
    'SELECT 1 FROM (SELECT at, lag(at) OVER (ORDER BY seq) AS before FROM deltas) WHERE at < before',
  ],
  [
    'deltas: one names an observation of another host',
    'SELECT 1 FROM deltas JOIN observations ON observations.seq = deltas.observation WHERE observations.host <> deltas.host',
  ],
  [
    'facet_counts: not what the facets give',
    `SELECT * FROM (SELECT kind, name, count(*) FROM facets GROUP BY 1, 2 EXCEPT SELECT kind, name, count FROM facet_counts)
     UNION ALL
     SELECT * FROM (SELECT kind, name, count FROM facet_counts EXCEPT SELECT kind, name, count(*) FROM facets GROUP BY 1, 2)`,
  ],
  [
    'change_counts: not what the deltas of shown hosts give',
    `WITH shown AS (
       SELECT strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, signal, kind, count(*) AS count
       FROM deltas JOIN hostnames ON hostnames.id = deltas.host
       WHERE state <> 'opted_out' AND rotation IS NOT 'answer' GROUP BY 1, 2, 3)
     SELECT * FROM (SELECT * FROM shown EXCEPT SELECT * FROM change_counts)
     UNION ALL
     SELECT * FROM (SELECT * FROM change_counts WHERE count <> 0 EXCEPT SELECT * FROM shown)`,
  ],
  [
    'host_changes: not what the deltas give',
    `WITH given AS (
       SELECT host, strftime('%Y-%m-%d', at / 1000, 'unixepoch') AS day, count(*) AS count
       FROM deltas WHERE rotation IS NOT 'answer' GROUP BY 1, 2)
     SELECT * FROM (SELECT * FROM given EXCEPT SELECT * FROM host_changes)
     UNION ALL
     SELECT * FROM (SELECT * FROM host_changes EXCEPT SELECT * FROM given)`,
  ],
  [
    'facet_days: the last day is not what the facets give',
    `SELECT 1 FROM (SELECT kind, name, max(day) AS day, count FROM facet_days GROUP BY 1, 2) AS last
     LEFT JOIN facet_counts USING (kind, name) WHERE last.count <> coalesce(facet_counts.count, 0)
     UNION ALL
     SELECT * FROM (SELECT 1 FROM facet_counts WHERE kind <> 'expiry'
       AND NOT EXISTS (SELECT 1 FROM facet_days WHERE facet_days.kind = facet_counts.kind AND facet_days.name = facet_counts.name))`,
  ],
  [
    'hostname_counts: not what the hostnames give',
    `SELECT 1 FROM hostname_counts
     WHERE count <> (SELECT count(*) FROM hostnames WHERE hostnames.state = hostname_counts.state)`,
  ],
  [
    'searched_values: not the values that were seen',
    // While values wait to be indexed, there is nothing to compare.
    `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM values_to_index) AND NOT EXISTS (SELECT 1 FROM values_before)
       AND (SELECT count(*) FROM searched_values) <>
         (SELECT count(DISTINCT ${INDEXED}) FROM sightings WHERE length(value) < 64) +
         (SELECT count(*) FROM (SELECT DISTINCT host, signal, ${INDEXED} FROM sightings WHERE length(value) >= 64))`,
  ],
];

/** Inconsistencies between the tables of the records service. */
export function recordsFaults(db: Db): string[] {
  const { one } = sql(db);
  return CHECKS.filter(
    ([, check, when = 'true']) => one(`SELECT 1 FROM (${check}) WHERE ${when} LIMIT 1`, integer)() !== null,
  ).map(([fault]) => fault);
}
