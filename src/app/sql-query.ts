import { join } from 'node:path';
import { Fault } from '../fault.ts';
import type { BqAnswer } from '../store/query-process.ts';
import { needOneStatement } from '../store/query-sql.ts';
import type { Workshop } from './context.ts';
import { BQ_TIME, BqHand } from './query-worker.ts';

/** Rows of an answer together, in characters of JSON. */
const SIZE = 4_000_000;
/** Queries that run at a time, and that wait for their turn. */
const AT_ONCE = 2;
const WAITING = 20;

export interface BqResult extends Exclude<BqAnswer, { refusal: string } | { broken: string }> {
  /** How long it took, in ms. */
  ms: number;
}

/** Runs operators' queries, each in a process beside this one that can be killed. */
export class BqDesk {
  readonly #file: string;
  readonly #free: BqHand[];
  readonly #waiting: ((hand: BqHand) => void)[] = [];

  /** `time` is what each query may take, in ms. */
  constructor({ settings }: Pick<Workshop, 'settings'>, time = BQ_TIME) {
    this.#free = Array.from({ length: AT_ONCE }, () => new BqHand(time));
    this.#file = join(settings.dataDir, 'broadsheet.db');
  }

  /** Throws `invalid_request` with what is wrong with the query, `unavailable` when too many wait or the database cannot be read. */
  async query(sql: string, maxRows: number): Promise<BqResult> {
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

  #turn(): Promise<BqHand> {
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
