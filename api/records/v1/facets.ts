import { z } from '@hono/zod-openapi';
import type { Cell } from '../../../src/records/csv.ts';
import type { Store } from '../../../src/store/store.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorParam, limitParam, pageOf } from '../../responses/paging.ts';
import { listOf, longCursor, longCursorShape, readLongCursor } from '../list.ts';
import { operation } from '../route.ts';

const NameCursor = longCursorShape(z.int().min(0));

const count = z.int().min(1).describe('How many watched hostnames have it.');
const query = z.object({ limit: limitParam(100, 1_000), cursor: cursorParam });

export type ListedFacet = 'service' | 'issuer' | 'mailhost' | 'nameserver';

function facetList<Row extends Record<string, string>>(list: {
  operationId: string;
  id: string;
  summary: string;
  row: z.ZodRawShape;
  rowOf(name: string): Row;
}) {
  const { operationId, id, summary, row, rowOf } = list;
  const spec = {
    operationId,
    tags: ['Lists'],
    summary,
    request: { query },
    responses: {
      200: ok(listOf(`${id}List`, z.object({ ...row, count }).openapi(`${id}Row`)), 'Most frequent first.'),
    },
  };
  return { spec, rowOf };
}

export const FACET_ROWS = {
  service: facetList({
    operationId: 'listServices',
    id: 'Service',
    summary: 'Services that records point to, by number of hostnames',
    row: { service: z.string(), kind: z.string() },
    rowOf: serviceOf,
  }),
  issuer: facetList({
    operationId: 'listIssuers',
    id: 'Issuer',
    summary: 'Certificate issuers, by number of hostnames',
    row: { issuer: z.string() },
    rowOf: (issuer) => ({ issuer }),
  }),
  mailhost: facetList({
    operationId: 'listMailHosts',
    id: 'MailHost',
    summary: 'Mail hosts: the registrable domains of MX hosts, by number of hostnames',
    row: { mail_host: z.string() },
    rowOf: (mail_host) => ({ mail_host }),
  }),
  nameserver: facetList({
    operationId: 'listDnsHosts',
    id: 'DnsHost',
    summary: 'DNS hosts: the registrable domains of NS hosts, by number of hostnames',
    row: { dns_host: z.string() },
    rowOf: (dns_host) => ({ dns_host }),
  }),
} satisfies Record<ListedFacet, object>;

/** How many names are read at a time to find a long one again. */
const STEP = 500;

export const listFacet = ({ records }: Store, kind: ListedFacet) => {
  const { spec, rowOf } = FACET_ROWS[kind];
  const namesAfter = (count: number, name: string) =>
    records.topFacets(kind, STEP, { count, name }).map((row) => row.name);
  return operation(spec, (c) => {
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

export const facetColumns = (kind: ListedFacet): string[] => [...Object.keys(FACET_ROWS[kind].rowOf('')), 'count'];

export function* facetCells({ records }: Store, kind: ListedFacet): Generator<Cell[][], void> {
  const { rowOf } = FACET_ROWS[kind];
  for (let after: { count: number; name: string } | undefined; ; ) {
    const found = records.topFacets(kind, STEP, after);
    yield found.map(({ name, count }) => [...Object.values(rowOf(name)), count]);
    after = found.at(-1);
    if (found.length < STEP) return;
  }
}

/** The parts of a service's facet, `<kind>:<name>`. */
export function serviceOf(facet: string): { service: string; kind: string } {
  const at = facet.indexOf(':');
  return { service: facet.slice(at + 1), kind: facet.slice(0, at) };
}
