import { createRoute, z } from '@hono/zod-openapi';
import { QUERY_TIME } from '../../../src/app/query-worker.ts';
import { SqlQueries } from '../../../src/app/sql-query.ts';
import { QUERY_VIEWS } from '../../../src/store/query-views.ts';
import { jsonBody, limitBody } from '../../middleware/json-body.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';

/** Rows of one answer: at most, and without `max_rows`. */
const MOST = 10_000;
const USUAL = 1_000;
/** The longest query, in UTF-16 units. */
const LONGEST = 20_000;

const tablesRoute = createRoute({
  method: 'get',
  path: '/v1/bq/tables',
  operationId: 'listTables',
  tags: ['Operator'],
  summary: 'What a query may read',
  responses: {
    200: ok(
      z
        .object({
          items: z.array(
            z.object({
              name: z.string(),
              description: z.string(),
              columns: z.array(
                z.object({ name: z.string(), type: z.enum(['text', 'integer']), description: z.string().optional() }),
              ),
            }),
          ),
          total: z.int(),
          next_cursor: z.null(),
        })
        .openapi('Tables'),
      'The tables, with their columns.',
    ),
    ...faults(),
  },
});

const Value = z.union([z.string(), z.number(), z.null(), z.object({ base64: z.string() })]);
const queryRoute = createRoute({
  method: 'post',
  path: '/v1/bq/query',
  operationId: 'query',
  tags: ['Operator'],
  summary: 'Ask the records in SQL',
  description: `One SELECT in SQLite's SQL, over the tables of GET /v1/bq/tables. Nothing can be written. It may take ${QUERY_TIME / 1_000} seconds; rows past the limit are left out and \`truncated\` says so.`,
  middleware: [limitBody, jsonBody()],
  request: {
    body: body(
      z
        .object({ sql: z.string().min(1).max(LONGEST), max_rows: z.int().min(1).max(MOST).default(USUAL) })
        .openapi('Query', {
          example: { sql: 'SELECT state, count(*) AS n FROM domains GROUP BY state', max_rows: 10 },
        }),
    ),
  },
  responses: {
    200: ok(
      z
        .object({
          columns: z.array(z.string()),
          rows: z
            .array(z.array(Value))
            .openapi({ description: 'Integers past 2^53 are strings; a blob is `{base64}`.' }),
          count: z.int().openapi({ description: 'Rows here.' }),
          truncated: z
            .union([z.literal(false), z.enum(['rows', 'size'])])
            .openapi({ description: 'Whether there are more, and which limit kept them out.' }),
          ms: z.int(),
        })
        .openapi('QueryResult'),
      'The rows.',
    ),
    ...faults(413, 415),
  },
});

/** SQL for operators, over what the records hold and nothing else. */
export function bqDoors(doors: RecordsDoors): void {
  const desk = new SqlQueries(doors.app);
  const items = QUERY_VIEWS.map(({ name, description, columns }) => ({ name, description, columns }));
  register(doors, 'operator', tablesRoute, (c) => privateJson(c, { items, total: items.length, next_cursor: null }));
  register(doors, 'operator', queryRoute, async (c) => {
    const { sql, max_rows } = c.req.valid('json');
    const { rows, ...result } = await desk.query(sql, max_rows);
    return privateJson(c, { ...result, rows, count: rows.length });
  });
}
