import { z } from '@hono/zod-openapi';
import { requireHost } from '../../../src/records/require-host.ts';
import { historyRow } from '../../../src/records/wire-rows.ts';
import type { Store } from '../../../src/store/store.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { pageOf } from '../../responses/paging.ts';
import { listOf } from '../list.ts';
import { longCursor, longCursorShape, readLongCursor } from '../long-cursor.ts';
import { operation } from '../route.ts';
import { domainParam, spanQuery } from './params.ts';
import { DomainName } from './record-schemas.ts';

const ValueCursor = longCursorShape(z.string().max(40));

export const History = listOf(
  'History',
  z
    .object({
      signal: z.string(),
      value: z.string(),
      first_seen: z.iso.datetime(),
      last_seen: z.iso.datetime(),
      count: z.int().min(1).openapi({ description: 'How many observations had it.' }),
    })
    .openapi('Sighting'),
  { domain: DomainName },
);

const spec = {
  operationId: 'listHistory',
  tags: ['Domains'],
  summary: 'Every value ever observed at a domain, with when it was first and last seen and how often',
  description: '`since` and `until` keep the values whose first-to-last interval overlaps the given span.',
  request: {
    params: domainParam,
    query: spanQuery,
  },
  responses: { 200: ok(History, 'By type and value.'), ...faults() },
};

/** How many values are read at a time to find a long one again. */
const STEP = 500;

export const listHistory = ({ records }: Pick<Store, 'records'>) =>
  operation(spec, (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { type: signal, since, until, limit, cursor } = c.req.valid('query');
    const query = { signal, since, until };
    const after = (signal: string, value: string) =>
      records.history(host.id, { signal }, STEP, { signal, value }).map((row) => row.value);
    const [last, value] = cursor === undefined ? [] : readLongCursor(ValueCursor, cursor, after);
    const from = last === undefined || value === undefined ? undefined : { signal: last, value };
    const found = records.history(host.id, query, limit + 1, from);
    const { rows, next } = pageOf(found, limit, (row) => longCursor(row.signal, row.value));
    return {
      domain: host.hostname,
      items: rows.map(historyRow),
      total: records.historyCount(host.id, query),
      next_cursor: next,
    };
  });
