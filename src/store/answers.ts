import type { AnswerTable, KeptAnswer } from '../desk/answers.ts';
import type { Db } from './open.ts';

/** Answers to writes, kept for those who send a write again: the desk's, or those of the domain records. */
export function answerTable(db: Db, table: 'answers' | 'service_answers'): AnswerTable {
  const get = db.prepare(`SELECT request, status, body FROM ${table} WHERE key = ? AND name = ? AND made_at > ?`);
  const put = db.prepare(
    `INSERT INTO ${table} (key, name, request, status, body, made_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET request = excluded.request, status = excluded.status, body = excluded.body,
       made_at = excluded.made_at`,
  );
  const forget = db.prepare(`DELETE FROM ${table} WHERE made_at <= ?`);
  return {
    get(key, name, since) {
      const [row] = get.all(key, name, since) as KeptAnswer[];
      return row ?? null;
    },
    put(key, name, { request, status, body }, at) {
      put.run(key, name, request, status, body, at);
    },
    forget(until) {
      forget.run(until);
    },
  };
}
