import type { Facet, FacetKind } from '../records/facets.ts';
import { integer, oneOf, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

export interface FacetCount {
  name: string;
  /** Of shown hosts. */
  count: number;
}

const COUNT = { name: text, count: integer };

/** What shown hosts are counted by: types, services, issuers and the like. */
export interface FacetTables {
  /** Replaces what the host counts for. */
  setFacets(host: number, wanted: Facet[]): void;
  /** What a host counts for, in no order. */
  facetsOf(host: number): Facet[];
  /** The names that most hosts count for, after one; from the first without one. */
  topFacets(kind: FacetKind, limit: number, after?: FacetCount): FacetCount[];
  /** How many names there are. */
  facetNames(kind: FacetKind): number;
  /** Counts by name, from one name up to, but not including, another: days of expiry, for one. */
  facetRange(kind: FacetKind, from: string, to: string): FacetCount[];
  /** Names with a prefix, by name, after one; '' begins. */
  facetsFrom(kind: FacetKind, prefix: string, after: string, limit: number): FacetCount[];
  /** Shown hosts that count for a name, in the order in which they came under watch, after one; '' begins. */
  hostsWithFacet(facet: Facet, after: string, limit: number): string[];
  facetCount(facet: Facet): number;
}

export function facetTables(db: Db): FacetTables {
  const { run, one, all } = sql(db);
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
  const names = one('SELECT count(*) AS count FROM facet_counts WHERE kind = ?', integer);
  const hosts = all(
    `SELECT hostname FROM facets CROSS JOIN hostnames ON hostnames.id = facets.host
     WHERE kind = ? AND name = ? AND host > coalesce((SELECT id FROM hostnames WHERE hostname = ?), 0)
     ORDER BY host LIMIT ?`,
    text,
  );
  const count = one('SELECT count FROM facet_counts WHERE kind = ? AND name = ?', integer);

  return {
    setFacets(host, wanted) {
      const key = ({ kind, name }: Facet): string => `${kind} ${name}`;
      const old = facetsOf(host);
      const [had, has] = [new Set(old.map(key)), new Set(wanted.map(key))];
      for (const facet of old) if (!has.has(key(facet))) remove(host, facet.kind, facet.name);
      for (const facet of wanted) if (!had.has(key(facet))) add(host, facet.kind, facet.name);
    },
    facetsOf,
    topFacets: (kind, limit, after) => top(kind, after?.count ?? Number.MAX_SAFE_INTEGER, after?.name ?? '', limit),
    facetNames: (kind) => names(kind) ?? 0,
    facetRange: all(
      'SELECT name, count FROM facet_counts WHERE kind = ? AND name >= ? AND name < ? ORDER BY name',
      COUNT,
    ),
    facetsFrom: all(
      `SELECT name, count FROM facet_counts WHERE kind = ?1 AND name >= ?2 AND name < ?2 || char(0x10ffff) AND name > ?3
       ORDER BY name LIMIT ?4`,
      COUNT,
    ),
    hostsWithFacet: ({ kind, name }, after, limit) => hosts(kind, name, after, limit),
    facetCount: ({ kind, name }) => count(kind, name) ?? 0,
  };
}
