import { z } from '@hono/zod-openapi';
import type { Cell } from '../../../src/shared/csv.ts';
import type { Store } from '../../../src/store/store.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorParam, limitParam, pageOf } from '../../responses/paging.ts';
import { listOf, longCursor, longCursorShape, readLongCursor } from '../list.ts';
import { operation } from '../route.ts';

const NameCursor = longCursorShape(z.int().min(0));

const count = z.int().min(1).describe('How many watched hostnames have it.');
const query = z.object({ limit: limitParam(100, 1_000), cursor: cursorParam });

export type ListedFacet = 'service' | 'issuer' | 'mailhost' | 'nameserver';

interface FacetSpec {
  /** The name in its schemas and operations. */
  id: string;
  nouns: string;
  /** What the names are, if the nouns do not say it. */
  about?: string;
  /** A name as members of a row. */
  rowOf(name: string): Record<string, string>;
}

export const FACETS: Record<ListedFacet, FacetSpec> = {
  service: { id: 'Service', nouns: 'Services that records point to', rowOf: serviceOf },
  issuer: { id: 'Issuer', nouns: 'Certificate issuers', rowOf: (issuer) => ({ issuer }) },
  mailhost: {
    id: 'MailHost',
    nouns: 'Mail hosts',
    about: ': the registrable domains of MX hosts',
    rowOf: (mail_host) => ({ mail_host }),
  },
  nameserver: {
    id: 'DnsHost',
    nouns: 'DNS hosts',
    about: ': the registrable domains of NS hosts',
    rowOf: (dns_host) => ({ dns_host }),
  },
};

function listSpec({ id, nouns, about = '', rowOf }: FacetSpec) {
  const members = Object.fromEntries(Object.keys(rowOf('')).map((name) => [name, z.string()]));
  const row = z.object({ ...members, count }).openapi(`${id}Row`);
  return {
    operationId: `list${id}s`,
    tags: ['Lists'],
    summary: `${nouns}${about}, by number of hostnames`,
    request: { query },
    responses: { 200: ok(listOf(`${id}List`, row), 'Most frequent first.') },
  };
}

/** How many names are read at a time to find a long one again. */
const STEP = 500;

export const listFacet = ({ records }: Store, kind: ListedFacet) => {
  const { rowOf } = FACETS[kind];
  const namesAfter = (count: number, name: string) =>
    records.topFacets(kind, STEP, { count, name }).map((row) => row.name);
  return operation(listSpec(FACETS[kind]), (c) => {
    const { limit, cursor } = c.req.valid('query');
    const [most, name] = cursor === undefined ? [] : readLongCursor(NameCursor, cursor, namesAfter);
    const after = most === undefined || name === undefined ? undefined : { count: most, name };
    const found = records.topFacets(kind, limit + 1, after);
    const { rows, next } = pageOf(found, limit, (last) => longCursor(last.count, last.name));
    return {
      items: rows.map((row) => ({ ...rowOf(row.name), count: row.count })),
      total: records.facetNames(kind),
      next_cursor: next,
    };
  });
};

export const facetColumns = (kind: ListedFacet): string[] => [...Object.keys(FACETS[kind].rowOf('')), 'count'];

export function* facetCells({ records }: Store, kind: ListedFacet): Generator<Cell[][], void> {
  const { rowOf } = FACETS[kind];
  for (let after: { count: number; name: string } | undefined; ; ) {
    const found = records.topFacets(kind, STEP, after);
    yield found.map(({ name, count }) => [...Object.values(rowOf(name)), count]);
    after = found.at(-1);
    if (found.length < STEP) return;
  }
}

/** The parts of a service's facet, `<kind>:<name>`. */
export function serviceOf(facet: string) {
  const at = facet.indexOf(':');
  return { service: facet.slice(at + 1), kind: facet.slice(0, at) };
}
