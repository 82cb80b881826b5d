import { isoOrNull } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import { registrableDomain } from './hostname.ts';
import { FIRST_VALUE, valueSightings } from './value-search.ts';
import { historyRow } from './wire-rows.ts';

const MOST = 50;
const SCANNED_NAMES = 1_000;

/** The kinds of results, in display order. */
export const FOUND_KINDS = ['domain', 'value', 'service', 'issuer', 'nameserver', 'mailhost'] as const;
export type FoundKind = (typeof FOUND_KINDS)[number];

/** The last row of a page of results of one kind. The next page starts after it. */
export type FoundCursor = (string | number)[];

type Records = AppContext['store']['records'];

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

export function findEverywhere(tables: Records, q: string): Found[] {
  return FOUND_KINDS.flatMap((kind) => findOf(tables, kind, q, MOST).map(({ found }) => found));
}

/**
 * Matches of one kind after a cursor: hostnames by prefixes of their labels, values by words and prefixes, services and
 * issuers by a substring of their names, name servers and mail hosts by a prefix.
 */
export function findOf(
  tables: Records,
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

function values(tables: Records, q: string, limit: number, after?: FoundCursor) {
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

/**
 * The form in which name servers and mail hosts are listed: the query's registrable domain, or the query itself as a
 * prefix.
 */
function hostOf(q: string): string {
  const low = q.toLowerCase().replace(/\.$/, '');
  return low.includes('.') && /^[a-z0-9.-]+$/.test(low) ? (registrableDomain(low) ?? low) : low;
}
