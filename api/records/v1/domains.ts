import { createRoute, z } from '@hono/zod-openapi';
import type { WatchedHost } from '../../../src/store/records-hostnames.ts';
import { isoOrNull, isoTime } from '../../../src/time.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { listOf, sendList } from '../answers.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { wordsParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

/** Finds are counted no further than this: counting millions would hold everybody up. */
const COUNTED = 10_000;

export const Catalog = listOf(
  'Catalog',
  z
    .object({
      domain: DomainName,
      unicode: z.string(),
      registrable_domain: z.string().nullable(),
      state: z.enum(['watched', 'paused']),
      added_at: z.iso.datetime(),
      observed_at: z.iso.datetime().nullable().openapi({ description: 'When it was last observed.' }),
      seq: z.int().min(1).nullable().openapi({ description: 'The newest observation.' }),
    })
    .openapi('CatalogRow'),
  {
    total_is: z.enum(['exact', 'at_least']).openapi({
      description: `With \`q\` no more than ${COUNTED} are counted; \`at_least\` says that there may be more.`,
    }),
  },
);

const route = createRoute({
  method: 'get',
  path: '/v1/domains',
  operationId: 'listDomains',
  tags: ['Domains'],
  summary: 'The catalog: every hostname under watch',
  request: {
    query: z.object({
      q: wordsParam.optional().openapi({
        description: 'Only hostnames that have, for each word, a label that begins with it; 1 to 253 characters.',
        example: 'exam',
      }),
      limit: limitParam(100, 1_000),
      cursor: cursorParam,
    }),
  },
  responses: {
    200: ok(Catalog, 'By name; with `q` in the order in which they came under watch.'),
    ...faults(),
  },
});

/** The catalog. */
export function domainsDoor(doors: RecordsDoors): void {
  const { records } = doors.app.store;
  register(doors, 'read', route, (c) => {
    const { q, limit, cursor } = c.req.valid('query');
    if (q !== undefined) {
      const [after] = readCursor(z.tuple([z.int().min(0)]), cursor);
      const { rows, next } = pageOf(records.search(q, limit + 1, after), limit, ({ id }) => cursorOf([id]));
      const total = records.searchCount(q, COUNTED);
      const total_is = total < COUNTED ? 'exact' : 'at_least';
      return sendList(doors, c, { total_is, items: rows.map(rowOf), total, next_cursor: next });
    }
    const [after = ''] = readCursor(z.tuple([z.string().max(253)]), cursor);
    const { rows, next } = pageOf(records.list(after, limit + 1), limit, ({ hostname }) => cursorOf([hostname]));
    const { watched, paused } = records.counts();
    return sendList(doors, c, {
      total_is: 'exact',
      items: rows.map(rowOf),
      total: watched + paused,
      next_cursor: next,
    });
  });
}

function rowOf({ hostname, unicode, registrable_domain, state, added_at, looked_at, seq }: WatchedHost) {
  return {
    domain: hostname,
    unicode,
    registrable_domain,
    state,
    added_at: isoTime(added_at),
    observed_at: isoOrNull(looked_at),
    seq,
  };
}
