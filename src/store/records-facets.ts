import type { Facet, FacetKind } from '../records/facets.ts';
import type { Db } from './open.ts';

export interface FacetCount {
  name: string;
  /** Of shown hosts. */
  count: number;
}

/** What shown hosts are counted by: types, services, issuers and the like. */
export function facetTables(db: Db) {
  const facets = db.prepare('SELECT kind, name FROM facets WHERE host = ?');
  const add = db.prepare('INSERT INTO facets VALUES (?, ?, ?)');
  const remove = db.prepare('DELETE FROM facets WHERE host = ? AND kind = ? AND name = ?');
  const top = db.prepare(
    `SELECT name, count FROM facet_counts WHERE kind = ?1 AND count <= ?2 AND (count < ?2 OR name > ?3)
     ORDER BY count DESC, name LIMIT ?4`,
  );
  const names = db.prepare('SELECT count(*) AS count FROM facet_counts WHERE kind = ?');
  const range = db.prepare(
    'SELECT name, count FROM facet_counts WHERE kind = ? AND name >= ? AND name < ? ORDER BY name',
  );
  const from = db.prepare(
    `SELECT name, count FROM facet_counts WHERE kind = ?1 AND name >= ?2 AND name < ?2 || char(0x10ffff) AND name > ?3
     ORDER BY name LIMIT ?4`,
  );
  const hosts = db.prepare(
    `SELECT hostname FROM facets CROSS JOIN hostnames ON hostnames.id = facets.host
     WHERE kind = ? AND name = ? AND host > coalesce((SELECT id FROM hostnames WHERE hostname = ?), 0)
     ORDER BY host LIMIT ?`,
  );
  const count = db.prepare('SELECT count FROM facet_counts WHERE kind = ? AND name = ?');

  return {
    /** Puts these in the place of what the host counted for. */
    setFacets(host: number, wanted: Facet[]): void {
      const key = ({ kind, name }: Facet): string => `${kind} ${name}`;
      const old = facets.all(host) as Facet[];
      const [had, has] = [new Set(old.map(key)), new Set(wanted.map(key))];
      for (const facet of old) if (!has.has(key(facet))) remove.run(host, facet.kind, facet.name);
      for (const facet of wanted) if (!had.has(key(facet))) add.run(host, facet.kind, facet.name);
    },
    /** What a host counts for, in no order. */
    facetsOf: (host: number): Facet[] => facets.all(host) as Facet[],
    /** The names that most hosts count for, after one; from the first without one. */
    topFacets: (kind: FacetKind, limit: number, after?: FacetCount): FacetCount[] =>
      top.all(kind, after?.count ?? Number.MAX_SAFE_INTEGER, after?.name ?? '', limit) as FacetCount[],
    /** How many names there are. */
    facetNames: (kind: FacetKind): number => (names.get(kind) as { count: number }).count,
    /** Counts by name, from one name up to, not including, another: days of expiry, for one. */
    facetRange: (kind: FacetKind, from: string, to: string): FacetCount[] => range.all(kind, from, to) as FacetCount[],
    /** Names that begin so, by name, after one; '' begins. */
    facetsFrom: (kind: FacetKind, beginning: string, after: string, limit: number): FacetCount[] =>
      from.all(kind, beginning, after, limit) as FacetCount[],
    /** Shown hosts that count for a name, in the order in which they came under watch, after one; '' begins. */
    hostsWithFacet: ({ kind, name }: Facet, after: string, limit: number): string[] =>
      (hosts.all(kind, name, after, limit) as { hostname: string }[]).map(({ hostname }) => hostname),
    facetCount: ({ kind, name }: Facet): number => (count.get(kind, name) as { count: number } | undefined)?.count ?? 0,
  };
}
