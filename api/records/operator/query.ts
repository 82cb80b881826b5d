import { z } from '@hono/zod-openapi';
import { QUERY_TIME, SqlQueries } from '../../../src/records/sql-query.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { QUERY_VIEWS } from '../../../src/store/records/query-views.ts';

import { body, ok } from '../../openapi/responses.ts';
import { wholeList } from '../list.ts';
import { operation } from '../route.ts';

/** Rows in one response: at most, and without `max_rows`. */
const ROWS_MAX = 10_000;
const ROWS_DEFAULT = 1_000;
/** The longest query, in UTF-16 code units. */
const SQL_MAX = 20_000;

const tablesSpec = {
  operationId: 'listTables',
  tags: ['Operator'],
  summary: 'The tables that a query can read',
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
      'The tables and their columns.',
    ),
  },
};

const Value = z.union([z.string(), z.number(), z.null(), z.object({ base64: z.string() })]);
const querySpec = {
  operationId: 'query',
  tags: ['Operator'],
  summary: 'Query the records in SQL',
  description: `One SELECT in SQLite’s SQL over the tables of GET /v1/bq/tables, read-only. It may take ${QUERY_TIME / 1_000} seconds. Rows past the limit are left out, and \`truncated\` says so.`,
  request: {
    body: body(
      z
        .object({ sql: z.string().min(1).max(SQL_MAX), max_rows: z.int().min(1).max(ROWS_MAX).default(ROWS_DEFAULT) })
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
          rows: z.array(z.array(Value)).describe('Integers beyond 2^53 are strings; a blob is `{base64}`.'),
          count: z.int().describe('Rows in this response.'),
          truncated: z
            .union([z.literal(false), z.enum(['rows', 'size'])])
            .describe('Which limit cut off further rows; false when there are none.'),
          ms: z.int(),
        })
        .openapi('QueryResult'),
      'The rows.',
    ),
  },
};

export const listTables = () => {
  const items = QUERY_VIEWS.map(({ name, description, columns }) => ({ name, description, columns }));
  return operation(tablesSpec, () => wholeList(items));
};

export const queryRecords = (app: AppContext) => {
  const queries = new SqlQueries(app);
  return operation(querySpec, async (c) => {
    const { sql, max_rows } = c.req.valid('json');
    const { rows, ...result } = await queries.query(sql, max_rows);
    return { ...result, rows, count: rows.length };
  });
};
