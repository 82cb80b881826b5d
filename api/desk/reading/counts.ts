import { z } from '@hono/zod-openapi';
import { STATES } from '../../../src/desk/archive.ts';
import { PAGE_KINDS, readCounts } from '../../../src/desk/page-counts.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ok } from '../../openapi/responses.ts';
import { limitParam } from '../../responses/paging.ts';
import { operationsUnder } from '../route.ts';

/** The most days in one request. */
const DAYS_MAX = 366;

const reads = z.int().min(0);
const kind = z.enum(PAGE_KINDS);

const Counts = z
  .object({
    counting: z.boolean().openapi({ description: 'Whether reads are counted (`PAGE_COUNTS`).' }),
    days: z.array(z.object({ day: z.iso.date(), reads })).openapi({ description: 'Oldest first, in UTC.' }),
    kinds: z.array(z.object({ kind, reads })).openapi({ description: 'The most read first.' }),
    pages: z
      .array(
        z.object({
          kind,
          id: z.string().openapi({ description: 'A piece’s id, or the name in the address; empty for the front.' }),
          slug: z.string().nullable().openapi({ description: 'Of a piece.' }),
          title: z.string().nullable().openapi({ description: 'A piece’s newest headline.' }),
          state: z.enum(STATES).nullable().openapi({ description: 'Of a piece.' }),
          reads,
        }),
      )
      .openapi({ description: 'The hundred most read pages.' }),
  })
  .openapi('Counts', {
    example: {
      counting: true,
      days: [{ day: '2026-11-20', reads: 412 }],
      kinds: [{ kind: 'front', reads: 412 }],
      pages: [{ kind: 'front', id: '', slug: null, title: null, state: null, reads: 412 }],
    },
  });

const counts = {
  operationId: 'readCounts',
  summary: 'How often pages were read',
  description:
    'Sums of each day, without cookies or anything about readers: pages that a browser opened and this server sent whole. Reads from a cache in front, or from a copy on another host, are not counted.',
  request: {
    query: z.object({
      days: limitParam(30, DAYS_MAX, 'days, today included'),
    }),
  },
  responses: { 200: ok(Counts, 'The last days, today included.') },
};

/** Reads of a paper's pages. */
export function countsHandler({ store, settings, clock }: AppContext) {
  return operationsUnder('Desk')(counts, (c) => {
    const at = { days: c.req.valid('query').days, now: clock.now() };
    return { counting: settings.pageCounts, ...readCounts(store.desk.pageCounts, c.get('site').slug, at) };
  });
}
