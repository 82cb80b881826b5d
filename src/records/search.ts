import type { Facet, FacetKind } from './facets.ts';
import { historyRow } from './rows.ts';

/** Of each kind of thing. */
const MOST = 50;
/** How many names of services and issuers are looked through. */
const LOOKED_THROUGH = 1_000;

/** What the search reads. */
export interface SearchTables {
  search(words: string, limit: number): { hostname: string; unicode: string; looked_at: number | null }[];
  hostsWithValue(
    value: string,
    limit: number,
  ): { hostname: string; signal: string; value: string; first_seen: number; last_seen: number; count: number }[];
  topFacets(kind: FacetKind, limit: number): { name: string; count: number }[];
  facetCount(facet: Facet): number;
}

/**
 * Everything that fits some words: hostnames by the beginnings of their labels,
 * values and hosts exactly, services and issuers by a part of their names.
 */
export function findEverywhere({ search, hostsWithValue, topFacets, facetCount }: SearchTables, q: string) {
  const low = q.toLowerCase();
  const domains = search(q, MOST).map(({ hostname, unicode, looked_at }) => ({
    kind: 'domain' as const,
    domain: hostname,
    unicode,
    observed_at: looked_at === null ? null : new Date(looked_at).toISOString(),
  }));
  // Values are kept as they stand in zones: hosts in lower case, texts as they are.
  const values = [...new Set([q, low])]
    .flatMap((value) => hostsWithValue(value, MOST))
    .slice(0, MOST)
    .map((sighting) => {
      const { hostname: domain, ...row } = historyRow(sighting);
      return { kind: 'value' as const, domain, ...row };
    });
  const named = (['service', 'issuer'] as const).flatMap((kind) =>
    topFacets(kind, LOOKED_THROUGH)
      .filter(({ name }) => name.toLowerCase().includes(low))
      .slice(0, MOST)
      .map(({ name, count }) => ({ kind, name, count })),
  );
  const hosts = (['nameserver', 'mailhost'] as const).flatMap((kind) => {
    const count = facetCount({ kind, name: low });
    return count === 0 ? [] : [{ kind, name: low, count }];
  });
  return [...domains, ...values, ...named, ...hosts];
}
