import { join } from 'node:path';
import { Busy, Fault } from '../fault.ts';
import type { QueryAnswer } from '../store/query-process.ts';
import { requireOneStatement } from '../store/query-sql.ts';
import type { AppContext } from './context.ts';
import { QUERY_TIME, QueryWorker } from './query-worker.ts';

/** The maximum size of an answer, in characters of JSON. */
const SIZE = 4_000_000;
/** The most concurrent queries, and the most waiting queries. */
const AT_ONCE = 2;
const WAITING = 20;

export interface QueryResult extends Extract<QueryAnswer, { rows: unknown }> {
  /** The duration, in ms. */
  ms: number;
}

/** Runs operators' queries, each in a child process that can be killed. */
export class SqlQueries {
  readonly #file: string;
  readonly #free: QueryWorker[];
  readonly #waiting: ((worker: QueryWorker) => void)[] = [];

  /** `time` is the time limit of each query, in ms. */
  constructor({ settings }: Pick<AppContext, 'settings'>, time = QUERY_TIME) {
    this.#free = Array.from({ length: AT_ONCE }, () => new QueryWorker(time));
    this.#file = join(settings.dataDir, 'broadsheet.db');
  }

  /**
   * Runs a query. Throws `invalid_request` with the problem in the query, or `unavailable` when it takes too
   * much time or memory, too many queries wait, or the database cannot be read.
   */
  async query(sql: string, maxRows: number): Promise<QueryResult> {
    requireOneStatement(sql);
    const worker = await this.#turn();
    const began = performance.now();
    try {
      const answer = await worker.ask({ file: this.#file, sql, maxRows, maxSize: SIZE });
      if ('broken' in answer) throw new Fault('unavailable', `the database cannot be queried: ${answer.broken}`);
      // How far a query gets in that time depends on the machine, so the query itself is not at fault.
      if ('overrun' in answer) throw new Busy(`sql: ${answer.overrun}; ask for less, or try again later`);
      if ('refusal' in answer) throw refusal(answer.refusal);
      return { ...answer, ms: Math.round(performance.now() - began) };
    } finally {
      // The longest-waiting query gets the worker.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(worker);
      else next(worker);
    }
  }

  #turn(): Promise<QueryWorker> {
    const worker = this.#free.pop();
    if (worker !== undefined) return Promise.resolve(worker);
    if (this.#waiting.length >= WAITING) throw new Busy(`${WAITING} queries are waiting already; try again later`);
    return new Promise((next) => this.#waiting.push(next));
  }
}

function refusal(words: string): Fault {
  const cure = /prohibited|not authorized|no such table/.test(words)
    ? '; GET /v1/bq/tables lists what may be read, and nothing may be written'
    : '';
  return new Fault('invalid_request', `sql: ${words}${cure}`, { field: 'sql' });
}
