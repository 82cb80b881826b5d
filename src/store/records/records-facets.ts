import { dayAfter, dayOf } from '../../proof/time.ts';
import type { Facet, FacetKind } from '../../records/facets.ts';
import { type Db, integer, oneOf, sql, text } from '../../shared/sql/sql.ts';

/** A name, and the number of shown hosts that have it. */
interface FacetCount {
  name: string;
  count: number;
}

const COUNT = { name: text, count: integer };

/** How many days counts are kept; before that, only the last count. */
const DAYS_KEPT = 400;

/** The facets of shown hosts: types, services, issuers and so on. */
export function facetTables(db: Db) {
  const { run, one, number, all } = sql(db);
  const facetsOf = all('SELECT kind, name FROM facets WHERE host = ?', {
    kind: oneOf('type', 'service', 'issuer', 'expiry', 'nameserver', 'mailhost'),
    name: text,
  });
  const add = run('INSERT INTO facets VALUES (?, ?, ?)');
  const remove = run('DELETE FROM facets WHERE host = ? AND kind = ? AND name = ?');
  const top = all(
    `SELECT name, count FROM facet_counts WHERE kind = ?1 AND count <= ?2 AND (count < ?2 OR name > ?3)
     ORDER BY count DESC, name LIMIT ?4`,
    COUNT,
  );
  const hosts = all(
    `SELECT hostname FROM facets CROSS JOIN hostnames ON hostnames.id = facets.host
     WHERE kind = ? AND name = ? AND host > coalesce((SELECT id FROM hostnames WHERE hostname = ?), 0)
     ORDER BY host LIMIT ?`,
    text,
  );
  const count = number('SELECT count FROM facet_counts WHERE kind = ? AND name = ?');
  const start = run('INSERT INTO facet_days_start VALUES (1, ?) ON CONFLICT DO NOTHING');
  // If the clock was set back, counts go to the newest day already recorded.
  const countDay = run(
    `INSERT INTO facet_days
     SELECT ?1, ?2, max(?3, coalesce((SELECT max(day) FROM facet_days WHERE kind = ?1 AND name = ?2), '')),
       coalesce((SELECT count FROM facet_counts WHERE kind = ?1 AND name = ?2), 0) WHERE true
     ON CONFLICT DO UPDATE SET count = excluded.count`,
  );
  const forgetDays = run(
    `DELETE FROM facet_days WHERE kind = ?1 AND name = ?2
       AND day < (SELECT max(day) FROM facet_days WHERE kind = ?1 AND name = ?2 AND day <= ?3)`,
  );
  const startDay = one('SELECT day FROM facet_days_start WHERE one = 1', text);
  const days = all(
    `SELECT facet_days.name, day, count FROM json_each(?2) AS wanted
     CROSS JOIN facet_days ON facet_days.kind = ?1 AND facet_days.name = wanted.value
     WHERE day >= coalesce((SELECT max(day) FROM facet_days WHERE kind = ?1 AND name = wanted.value AND day <= ?3), '')`,
    { name: text, day: text, count: integer },
  );

  /** Replaces a host's facets; `at` is the time in ms. */
  const setFacets = (host: number, wanted: Facet[], at: number): void => {
    const key = ({ kind, name }: Facet): string => `${kind} ${name}`;
    const old = facetsOf(host);
    const [had, has] = [new Set(old.map(key)), new Set(wanted.map(key))];
    const gone = old.filter((facet) => !has.has(key(facet)));
    const come = wanted.filter((facet) => !had.has(key(facet)));
    for (const { kind, name } of gone) remove(host, kind, name);
    for (const { kind, name } of come) add(host, kind, name);
    const day = dayOf(at);
    start(day);
    for (const { kind, name } of [...gone, ...come]) {
      // Days of expiry are not names whose spread is charted.
      if (kind === 'expiry') continue;
      countDay(kind, name, day);
      forgetDays(kind, name, dayAfter(day, -DAYS_KEPT));
    }
  };

  return {
    setFacets,
    /**
     * Counts by name, at the end of each day on which they changed, and the last count before `since` (YYYY-MM-DD).
     * From `facetDaysStart` on, a name without a row had no hosts.
     */
    facetDays: (kind: FacetKind, names: string[], since: string): { name: string; day: string; count: number }[] =>
      days(kind, JSON.stringify(names), since),
    /** The first day of `facetDays`; null before the first observation. */
    facetDaysStart: startDay,
    /** A host's facets, unordered. */
    facetsOf,
    /** The most frequent names, after the given one. */
    topFacets: (kind: FacetKind, limit: number, after?: FacetCount): FacetCount[] =>
      top(kind, after?.count ?? Number.MAX_SAFE_INTEGER, after?.name ?? '', limit),
    /** The number of names. */
    facetNames: number('SELECT count(*) FROM facet_counts WHERE kind = ?'),
    /** Counts by name in a range, such as days of expiry; its end is exclusive. */
    facetRange: all(
      'SELECT name, count FROM facet_counts WHERE kind = ? AND name >= ? AND name < ? ORDER BY name',
      COUNT,
    ),
    /** Names of a kind that start with a prefix, sorted, after the given one ('' for the first page). */
    facetsFrom: all(
      `SELECT name, count FROM facet_counts WHERE kind = ?1 AND name >= ?2 AND name < ?2 || char(0x10ffff) AND name > ?3
       ORDER BY name LIMIT ?4`,
      COUNT,
    ),
    /**
     * Shown hosts with a facet, in the order in which they were put under watch, after the given one ('' for the first
     * page).
     */
    hostsWithFacet: ({ kind, name }: Facet, after: string, limit: number): string[] => hosts(kind, name, after, limit),
    facetCount: ({ kind, name }: Facet): number => count(kind, name),
  };
}
