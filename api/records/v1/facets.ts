import { z } from '@hono/zod-openapi';
import type { FacetKind } from '../../../src/records/facets.ts';
import type { Store } from '../../../src/store/store.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorParam, limitParam, pageOf } from '../../responses/paging.ts';
import { listOf } from '../list.ts';
import { longCursor, longCursorShape, readLongCursor } from '../long-cursor.ts';
import { operation } from '../route.ts';

const NameCursor = longCursorShape(z.int().min(0));

const count = z.int().min(1).openapi({ description: 'How many watched hostnames have it.' });
const query = z.object({ limit: limitParam(100, 1_000), cursor: cursorParam });

const services = {
  operationId: 'listServices',
  tags: ['Lists'],
  summary: 'Services that records point to, by number of hostnames',
  request: { query },
  responses: {
    200: ok(
      listOf('ServiceList', z.object({ service: z.string(), kind: z.string(), count }).openapi('ServiceRow')),
      'Most frequent first.',
    ),
    ...faults(),
  },
};

const issuers = {
  operationId: 'listIssuers',
  tags: ['Lists'],
  summary: 'Certificate issuers, by number of hostnames',
  request: { query },
  responses: {
    200: ok(listOf('IssuerList', z.object({ issuer: z.string(), count }).openapi('IssuerRow')), 'Most frequent first.'),
    ...faults(),
  },
};

/** How many names are read at a time to find a long one again. */
const STEP = 500;

type Query = z.output<typeof query>;

/** A page of one list by value, the most frequent first. */
function facetPage<Row extends object>(
  records: Store['records'],
  kind: FacetKind,
  { limit, cursor }: Query,
  rowOf: (name: string, count: number) => Row,
) {
  const namesAfter = (count: number, name: string) =>
    records.topFacets(kind, STEP, { count, name }).map((row) => row.name);
  const [most, name] = cursor === undefined ? [] : readLongCursor(NameCursor, cursor, namesAfter);
  const after = most === undefined || name === undefined ? undefined : { count: most, name };
  const found = records.topFacets(kind, limit + 1, after);
  const { rows, next } = pageOf(found, limit, (last) => longCursor(last.count, last.name));
  return {
    items: rows.map((row) => rowOf(row.name, row.count)),
    total: records.facetNames(kind),
    next_cursor: next,
  };
}

export const listServices = ({ records }: Pick<Store, 'records'>) =>
  operation(services, (c) =>
    facetPage(records, 'service', c.req.valid('query'), (name, count) => ({ ...serviceOf(name), count })),
  );

export const listIssuers = ({ records }: Pick<Store, 'records'>) =>
  operation(issuers, (c) => facetPage(records, 'issuer', c.req.valid('query'), (issuer, count) => ({ issuer, count })));

/** The parts of a service's facet, `<kind>:<name>`. */
export function serviceOf(facet: string): { service: string; kind: string } {
  const at = facet.indexOf(':');
  return { service: facet.slice(at + 1), kind: facet.slice(0, at) };
}
