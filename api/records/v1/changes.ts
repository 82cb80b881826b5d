import { z } from '@hono/zod-openapi';
import type { AppContext } from '../../../src/app/context.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import { deltaRow } from '../../../src/records/wire-rows.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { assertReached } from '../ahead.ts';
import { listOf } from '../list.ts';
import { operation } from '../route.ts';
import { ChangeCursor, domainFilter, sinceParam, typeParam, untilParam } from './params.ts';
import { Delta } from './record-schemas.ts';

export const ChangeList = listOf('ChangeList', Delta);

const spec = {
  operationId: 'listChanges',
  tags: ['Changes'],
  summary: 'The change wire: what changed between observations',
  request: {
    query: z.object({
      domain: domainFilter,
      type: typeParam,
      since: sinceParam,
      until: untilParam,
      order: z
        .enum(['newest', 'oldest'], { error: 'must be newest or oldest' })
        .default('newest')
        .openapi({ description: 'Which changes come first.' }),
      limit: limitParam(100, 1_000),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(ChangeList, 'Newest first, unless `order` says otherwise.'), ...faults() },
};

export const listChanges = (app: Pick<AppContext, 'store' | 'signer'>) => {
  const { records } = app.store;
  return operation(spec, (c) => {
    const { domain, type: signal, since, until, order, limit, cursor } = c.req.valid('query');
    const host = domain === undefined ? undefined : requireHost(records, domain).id;
    const query = { host, signal, since, until };
    const [from] = readCursor(ChangeCursor, cursor);
    if (order === 'oldest' && from !== undefined) {
      assertReached(app, { field: 'cursor', position: from, newest: records.newestDelta() });
    }
    const found = records.deltas(query, { limit: limit + 1, order, cursor: from });
    const { rows, next } = pageOf(found, limit, ({ seq }) => cursorOf([seq]));
    return { items: rows.map(deltaRow), total: records.deltaCount(query), next_cursor: next };
  });
};
