import { z } from '@hono/zod-openapi';
import { requireHost } from '../../../src/records/require-host.ts';
import { deltaRow, tapeRow } from '../../../src/records/wire-rows.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { Store } from '../../../src/store/store.ts';
import { assertSigns } from '../../middleware/standby.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { listOf } from '../list.ts';
import { operation } from '../route.ts';
import { changesState, changeTotal } from '../send.ts';
import { ChangeCursor, domainFilter, rawParam, sinceParam, typeParam, untilParam } from './params.ts';
import { Delta } from './record-schemas.ts';

export const ChangeList = listOf('ChangeList', Delta);

const changesSpec = {
  operationId: 'listChanges',
  tags: ['Changes'],
  summary: 'The change wire: what changed between observations',
  request: {
    query: z.object({
      domain: domainFilter,
      type: typeParam,
      raw: rawParam,
      since: sinceParam,
      until: untilParam,
      order: z
        .enum(['newest', 'oldest'], { error: 'must be newest or oldest' })
        .default('newest')
        .describe('Which changes come first.'),
      limit: limitParam(100, 1_000),
      cursor: cursorParam,
    }),
  },
  responses: { 200: ok(ChangeList, 'Newest first, unless `order` says otherwise.') },
};

export const listChanges = (app: AppContext) => {
  const { records } = app.store;
  return operation(changesSpec, (c) => {
    const { domain, type: signal, raw: rotating, since, until, order, limit, cursor } = c.req.valid('query');
    const host = domain === undefined ? undefined : requireHost(records, domain).id;
    const query = { host, signal, since, until, rotating };
    const [from] = readCursor(ChangeCursor, cursor);
    if (order === 'oldest' && from !== undefined) {
      assertReached(app, { field: 'cursor', position: from, newest: records.newestDelta() });
    }
    const found = records.deltas(query, { limit: limit + 1, order, cursor: from });
    const { rows, next } = pageOf(found, limit, ({ seq }) => cursorOf([seq]));
    return { items: rows.map(deltaRow), total: records.deltaCount(query), next_cursor: next };
  });
};

export const TAPE_ROWS = 50;

const TapeRow = Delta.pick({ seq: true, at: true, domain: true, signal: true, kind: true })
  .extend({ line: z.string().describe('The change as one line of plain text.') })
  .openapi('TapeRow');

const tapeSpec = {
  operationId: 'readTape',
  tags: ['Public'],
  summary: 'The latest 50 changes, one line each',
  responses: { 200: ok(listOf('Tape', TapeRow), 'Newest first.') },
};

export const readTape = ({ records }: Store) => {
  const cache = new ResponseCache();
  const total = changeTotal(records);
  return operation(tapeSpec, () =>
    cache.load('tape', changesState(records), () => {
      const items = records.deltas({}, { limit: TAPE_ROWS }).map(tapeRow);
      return JSON.stringify({ items, total: total(), next_cursor: null });
    }),
  );
};

const BEHIND = 'this server stands by for another one, and may not have these changes yet; try again soon';

/**
 * Throws `ahead_of_stream` for a position that no change has reached: its client would receive nothing until then. A
 * standby has only what it restored last, so there it is `unavailable`. `field` names the parameter.
 */
export function assertReached(
  app: AppContext,
  { field, position, newest }: { field: string; position: number; newest: number },
): void {
  if (position <= newest) return;
  assertSigns(app, BEHIND);
  const message = `${field}: ${position} is ahead of the stream, whose newest change is ${newest}: this service was restored from a backup since, or the number is not one of its changes. Read /v1/changes for what changed, and go on from ${newest}. Nothing was charged`;
  throw new Fault('ahead_of_stream', message, { newest });
}
