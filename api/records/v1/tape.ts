import { createRoute, z } from '@hono/zod-openapi';
import { tapeRow } from '../../../src/records/wire-rows.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { listOf } from '../answers.ts';
import { sendMade } from '../public-answer.ts';
import { changesState, changeTotal } from '../public-state.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { Delta } from './record-schemas.ts';

/** Changes on the tape. */
export const TAPE_ROWS = 50;

const TapeRow = Delta.pick({ seq: true, at: true, domain: true, signal: true, kind: true })
  .extend({ line: z.string().openapi({ description: 'The change in one line of plain text.' }) })
  .openapi('TapeRow');

const route = createRoute({
  method: 'get',
  path: '/v1/tape',
  operationId: 'readTape',
  tags: ['Public'],
  summary: 'The last 50 changes, each in a line',
  security: [{}],
  responses: { 200: ok(listOf('Tape', TapeRow), 'Newest first.'), ...faults() },
});

/** The tape: what changed last, for everybody. */
export function tapeDoor(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  const kept = new ResponseCache();
  const total = changeTotal(records);
  register(doors, 'public', route, async (c) => {
    const made = await kept.load('tape', changesState(records), () => {
      const items = records.deltas({}, { limit: TAPE_ROWS }).map(tapeRow);
      return JSON.stringify({ items, total: total(), next_cursor: null });
    });
    return sendMade(c, made, { 'Content-Type': 'application/json' });
  });
}
