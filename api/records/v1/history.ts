import { createRoute, z } from '@hono/zod-openapi';
import { requireHost } from '../../../src/records/require-host.ts';
import { historyRow } from '../../../src/records/wire-rows.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorParam, limitParam, pageOf } from '../../responses/paging.ts';
import { listOf, sendList } from '../answers.ts';
import { longCursor, longPlace } from '../long-cursor.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { domainParam, sinceParam, typeParam, untilParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

export const History = listOf(
  'History',
  z
    .object({
      signal: z.string(),
      value: z.string(),
      first_seen: z.iso.datetime(),
      last_seen: z.iso.datetime(),
      count: z.int().min(1).openapi({ description: 'In how many observations.' }),
    })
    .openapi('Sighting'),
  { domain: DomainName },
);

const route = createRoute({
  method: 'get',
  path: '/v1/domains/{domain}/history',
  operationId: 'listHistory',
  tags: ['Domains'],
  summary: 'Every value that was seen at a domain: when first, when last, and how often',
  description: 'With `since` or `until`, those whose time from first to last touches the span.',
  request: {
    params: domainParam,
    query: z.object({
      type: typeParam,
      since: sinceParam,
      until: untilParam,
      limit: limitParam(100, 1_000),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(History, 'By type and value.'), ...faults() },
});

/** How many values are read at a time to find a long one again. */
const STEP = 500;

/** The values of a domain. */
export function historyDoor(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  register(doors, 'read', route, (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { type: signal, since, until, limit, cursor } = c.req.valid('query');
    const query = { signal, since, until };
    const after = (signal: string, value: string) =>
      records.history(host.id, { signal }, STEP, { signal, value }).map((row) => row.value);
    const [last, value] = cursor === undefined ? [] : longPlace(z.string().max(40), cursor, after);
    const place = last === undefined || value === undefined ? undefined : { signal: last, value };
    const found = records.history(host.id, query, limit + 1, place);
    const { rows, next } = pageOf(found, limit, (row) => longCursor(row.signal, row.value));
    return sendList(doors, c, {
      domain: host.hostname,
      items: rows.map(historyRow),
      total: records.historyCount(host.id, query),
      next_cursor: next,
    });
  });
}
