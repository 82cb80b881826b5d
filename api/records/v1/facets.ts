import { createRoute, z } from '@hono/zod-openapi';
import type { FacetKind } from '../../../src/records/facets.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorParam, limitParam, pageOf } from '../../responses/paging.ts';
import { listOf, sendList } from '../answers.ts';
import { longCursor, longPlace } from '../long-cursor.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import { register } from '../route.ts';

const count = z.int().min(1).openapi({ description: 'At how many hostnames under watch.' });
const query = z.object({ limit: limitParam(100, 1_000), cursor: cursorParam });

const services = createRoute({
  method: 'get',
  path: '/v1/services',
  operationId: 'listServices',
  tags: ['Lists'],
  summary: 'The services that records point to, by how many hostnames have them',
  request: { query },
  responses: {
    200: ok(
      listOf('ServiceList', z.object({ service: z.string(), kind: z.string(), count }).openapi('ServiceRow')),
      'The most frequent first.',
    ),
    ...faults(),
  },
});

const issuers = createRoute({
  method: 'get',
  path: '/v1/issuers',
  operationId: 'listIssuers',
  tags: ['Lists'],
  summary: 'Who issued the certificates that hostnames show, by how many',
  request: { query },
  responses: {
    200: ok(
      listOf('IssuerList', z.object({ issuer: z.string(), count }).openapi('IssuerRow')),
      'The most frequent first.',
    ),
    ...faults(),
  },
});

/** How many names are read at a time to find a long one again. */
const STEP = 500;

/** What is seen at many hostnames: services and issuers. */
export function seenDoors(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  const list = <Row extends object>(
    c: RecordsContext,
    kind: FacetKind,
    { limit, cursor }: z.infer<typeof query>,
    rowOf: (name: string, count: number) => Row,
  ) => {
    const place = (count: number, name: string) =>
      records.topFacets(kind, STEP, { count, name }).map((row) => row.name);
    const [most, name] = cursor === undefined ? [] : longPlace(z.int().min(0), cursor, place);
    const after = most === undefined || name === undefined ? undefined : { count: most, name };
    const found = records.topFacets(kind, limit + 1, after);
    const { rows, next } = pageOf(found, limit, (last) => longCursor(last.count, last.name));
    return sendList(doors, c, {
      items: rows.map((row) => rowOf(row.name, row.count)),
      total: records.facetNames(kind),
      next_cursor: next,
    });
  };
  register(doors, 'read', services, (c) =>
    list(c, 'service', c.req.valid('query'), (name, count) => ({ ...serviceOf(name), count })),
  );
  register(doors, 'read', issuers, (c) =>
    list(c, 'issuer', c.req.valid('query'), (issuer, count) => ({ issuer, count })),
  );
}

/** A service's facet, `<kind>:<name>`, in its parts. */
export function serviceOf(facet: string): { service: string; kind: string } {
  const at = facet.indexOf(':');
  return { service: facet.slice(at + 1), kind: facet.slice(0, at) };
}
