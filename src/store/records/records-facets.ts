import type { Facet, FacetKind } from '../../records/facets.ts';
import { type Db, integer, oneOf, sql, text } from '../../shared/sql/sql.ts';

/** A name, and the number of shown hosts that have it. */
interface FacetCount {
  name: string;
  count: number;
}

const COUNT = { name: text, count: integer };

/** The facets of shown hosts: types, services, issuers and so on. */
export function facetTables(db: Db) {
  const { run, number, all } = sql(db);
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

  return {
    /** Replaces a host's facets. */
    setFacets(host: number, wanted: Facet[]): void {
      const key = ({ kind, name }: Facet): string => `${kind} ${name}`;
      const old = facetsOf(host);
      const [had, has] = [new Set(old.map(key)), new Set(wanted.map(key))];
      for (const facet of old) if (!has.has(key(facet))) remove(host, facet.kind, facet.name);
      for (const facet of wanted) if (!had.has(key(facet))) add(host, facet.kind, facet.name);
    },
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
    /** Names of a kind with a prefix, by name, after the given one ('' for the first page). */
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
