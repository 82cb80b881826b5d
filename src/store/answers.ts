import type { AnswerTable } from '../desk/answers.ts';
import { integer, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** Answers to writes, for idempotency keys: those of the desk, or those of the domain records. */
export function answerTable(db: Db, table: 'answers' | 'service_answers'): AnswerTable {
  const { run, one } = sql(db);
  const put = run(
    `INSERT INTO ${table} (key, name, request, status, body, made_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET request = excluded.request, status = excluded.status, body = excluded.body,
       made_at = excluded.made_at`,
  );
  return {
    get: one(`SELECT request, status, body FROM ${table} WHERE key = ? AND name = ? AND made_at > ?`, {
      request: text,
      status: integer,
      body: text,
    }),
    put(key, name, { request, status, body }, at) {
      put(key, name, request, status, body, at);
    },
    deleteUntil: run(`DELETE FROM ${table} WHERE made_at <= ?`),
  };
}
