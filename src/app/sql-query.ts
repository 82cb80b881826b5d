import { join } from 'node:path';
import { Fault } from '../fault.ts';
import type { QueryAnswer } from '../store/query-process.ts';
import { needOneStatement } from '../store/query-sql.ts';
import type { AppContext } from './context.ts';
import { QUERY_TIME, QueryWorker } from './query-worker.ts';

/** Rows of an answer together, in characters of JSON. */
const SIZE = 4_000_000;
/** Queries that run at a time, and that wait for their turn. */
const AT_ONCE = 2;
const WAITING = 20;

export interface QueryResult extends Exclude<QueryAnswer, { refusal: string } | { broken: string }> {
  /** How long it took, in ms. */
  ms: number;
}

/** Runs operators' queries, each in a process beside this one that can be killed. */
export class SqlQueries {
  readonly #file: string;
  readonly #free: QueryWorker[];
  readonly #waiting: ((hand: QueryWorker) => void)[] = [];

  /** `time` is what each query may take, in ms. */
  constructor({ settings }: Pick<AppContext, 'settings'>, time = QUERY_TIME) {
    this.#free = Array.from({ length: AT_ONCE }, () => new QueryWorker(time));
    this.#file = join(settings.dataDir, 'broadsheet.db');
  }

  /** Throws `invalid_request` with what is wrong with the query, `unavailable` when too many wait or the database cannot be read. */
  async query(sql: string, maxRows: number): Promise<QueryResult> {
    needOneStatement(sql);
    const hand = await this.#turn();
    const began = performance.now();
    try {
      const answer = await hand.ask({ file: this.#file, sql, maxRows, maxSize: SIZE });
      if ('broken' in answer) throw new Fault('unavailable', `the database cannot be queried: ${answer.broken}`);
      if ('refusal' in answer) throw refusal(answer.refusal);
      return { ...answer, ms: Math.round(performance.now() - began) };
    } finally {
      // It goes to who has waited longest.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(hand);
      else next(hand);
    }
  }

  #turn(): Promise<QueryWorker> {
    const hand = this.#free.pop();
    if (hand !== undefined) return Promise.resolve(hand);
    if (this.#waiting.length >= WAITING) throw new Fault('unavailable', `${WAITING} queries wait already`);
    return new Promise((next) => this.#waiting.push(next));
  }
}

function refusal(words: string): Fault {
  const cure = /prohibited|not authorized|no such table/.test(words)
    ? '; GET /v1/bq/tables lists what may be read, and nothing may be written'
    : '';
  return new Fault('invalid_request', `sql: ${words}${cure}`, { field: 'sql' });
}
