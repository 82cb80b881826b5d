import { z } from '@hono/zod-openapi';
import { tapeRow } from '../../../src/records/wire-rows.ts';
import type { Store } from '../../../src/store/store.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { changesState, changeTotal } from '../cache-state.ts';
import { listOf } from '../list.ts';
import { operation } from '../route.ts';
import { Delta } from './record-schemas.ts';

/** Changes on the tape. */
export const TAPE_ROWS = 50;

const TapeRow = Delta.pick({ seq: true, at: true, domain: true, signal: true, kind: true })
  .extend({ line: z.string().openapi({ description: 'The change as one line of plain text.' }) })
  .openapi('TapeRow');

const spec = {
  operationId: 'readTape',
  tags: ['Public'],
  summary: 'The latest 50 changes, one line each',
  responses: { 200: ok(listOf('Tape', TapeRow), 'Newest first.'), ...faults() },
};

export const readTape = ({ records }: Pick<Store, 'records'>) => {
  const cache = new ResponseCache();
  const total = changeTotal(records);
  return operation(spec, () =>
    cache.load('tape', changesState(records), () => {
      const items = records.deltas({}, { limit: TAPE_ROWS }).map(tapeRow);
      return JSON.stringify({ items, total: total(), next_cursor: null });
    }),
  );
};
