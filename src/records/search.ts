import { isoOrNull } from '../time.ts';
import type { FacetKind } from './facets.ts';
import { registrableDomain } from './hostname.ts';
import type { ValueTables } from './value-search.ts';
import { FIRST_VALUE, valueSightings } from './value-search.ts';
import { historyRow } from './wire-rows.ts';

/** Of each kind of thing, when all kinds are asked for. */
const MOST = 50;
/** How many names of services and issuers are looked through. */
const SCANNED_NAMES = 1_000;

/** What is found, in the order in which it is listed. */
export const FOUND_KINDS = ['domain', 'value', 'service', 'issuer', 'nameserver', 'mailhost'] as const;
export type FoundKind = (typeof FOUND_KINDS)[number];

/** Where the list of one kind stands: what the next page comes after. */
export type FoundCursor = (string | number)[];

/** What the search reads. */
export interface SearchTables extends ValueTables {
  search(
    words: string,
    limit: number,
    after?: number,
  ): { id: number; hostname: string; unicode: string; looked_at: number | null }[];
  topFacets(kind: FacetKind, limit: number, after?: { name: string; count: number }): { name: string; count: number }[];
  facetsFrom(kind: FacetKind, beginning: string, after: string, limit: number): { name: string; count: number }[];
}

export type Found =
  | { kind: 'domain'; domain: string; unicode: string; observed_at: string | null }
  | {
      kind: 'value';
      domain: string;
      signal: string;
      value: string;
      first_seen: string;
      last_seen: string;
      count: number;
    }
  | { kind: 'service' | 'issuer' | 'nameserver' | 'mailhost'; name: string; count: number };

/** Everything that fits some words, the first of each kind. */
export function findEverywhere(tables: SearchTables, q: string): Found[] {
  return FOUND_KINDS.flatMap((kind) => findOf(tables, kind, q, MOST).map(({ found }) => found));
}

/**
 * What of one kind fits some words, after a place of that kind: hostnames by
 * the beginnings of their labels, values by their words and beginnings, services
 * and issuers by a part of their names, hosts by the beginnings of theirs.
 */
export function findOf(
  tables: SearchTables,
  kind: FoundKind,
  q: string,
  limit: number,
  after?: FoundCursor,
): { found: Found; cursor: FoundCursor }[] {
  switch (kind) {
    case 'domain':
      return tables.search(q, limit, after?.[0] as number | undefined).map((host) => ({
        found: {
          kind,
          domain: host.hostname,
          unicode: host.unicode,
          observed_at: isoOrNull(host.looked_at),
        },
        cursor: [host.id],
      }));
    case 'value':
      return values(tables, q, limit, after);
    case 'service':
    case 'issuer': {
      const [count, name] = (after ?? []) as [number, string] | [];
      const low = q.toLowerCase();
      return tables
        .topFacets(kind, SCANNED_NAMES, count === undefined || name === undefined ? undefined : { count, name })
        .filter((facet) => facet.name.toLowerCase().includes(low))
        .slice(0, limit)
        .map((facet) => ({ found: { kind, ...facet }, cursor: [facet.count, facet.name] }));
    }
    default:
      return tables
        .facetsFrom(kind, hostOf(q), String(after?.[0] ?? ''), limit)
        .map((facet) => ({ found: { kind, ...facet }, cursor: [facet.name] }));
  }
}

function values(tables: ValueTables, q: string, limit: number, after?: FoundCursor) {
  const [tier, id, host, signal] = (after ?? []) as [number, number, number, string] | [];
  const from = signal === undefined ? FIRST_VALUE : { tier: tier ?? 0, id: id ?? 0, host: host ?? 0, signal };
  const rows: { found: Found; cursor: FoundCursor }[] = [];
  if (limit === 0) return rows;
  for (const { sighting, cursor } of valueSightings(tables, q, from)) {
    const { hostname: domain, host: _, ...row } = historyRow(sighting);
    rows.push({
      found: { kind: 'value', domain, ...row },
      cursor: [cursor.tier, cursor.id, cursor.host, cursor.signal],
    });
    if (rows.length === limit) break;
  }
  return rows;
}

/** Mail hosts and name servers are listed by their registrable domains: that of a host, or what one begins with. */
function hostOf(q: string): string {
  const low = q.toLowerCase().replace(/\.$/, '');
  return low.includes('.') && /^[a-z0-9.-]+$/.test(low) ? (registrableDomain(low) ?? low) : low;
}
