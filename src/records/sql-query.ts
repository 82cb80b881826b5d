import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AppContext } from '../server/context.ts';
import { Busy, Fault, messageOf } from '../shared/fault.ts';
import { databaseFile } from '../shared/files/data-folder.ts';
import { PROJECT } from '../shared/project.ts';
import type { QueryAnswer, QueryTask } from '../store/records/query-process.ts';

/** The time limit of a query, in ms. */
export const QUERY_TIME = 5_000;
/** The memory limit of a query's process, in bytes. */
const MEMORY = 400_000_000;
/** The maximum size of an answer, in characters of JSON. */
const SIZE = 4_000_000;
/** The most concurrent queries, and the most waiting queries. */
const AT_ONCE = 2;
const WAITING = 20;
/** How long idle processes are kept, in ms. */
const IDLE = 10_000;
/** The Node that npm installed: SQLite's authorizer came with 24.10, and this process may run on an older one. */
const NODE = join(PROJECT, 'node_modules/.bin/node');

export interface QueryResult extends Extract<QueryAnswer, { rows: unknown }> {
  /** The duration, in ms. */
  ms: number;
}

/** Runs operators' queries in child processes, which can be killed: a thread that runs SQLite cannot. */
export class SqlQueries {
  readonly #file: string;
  readonly #time: number;
  readonly #idle: ChildProcess[] = [];
  readonly #end = setTimeout(() => this.#idle.splice(0).map((child) => child.kill('SIGKILL')), IDLE).unref();
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** `time` is the time limit of each query, in ms. */
  constructor({ settings }: Pick<AppContext, 'settings'>, time = QUERY_TIME) {
    this.#file = databaseFile(settings);
    this.#time = time;
  }

  /**
   * Throws `invalid_request` with the problem in the query, or `unavailable` when it exceeds a limit, or too many are
   * waiting.
   */
  async query(sql: string, maxRows: number): Promise<QueryResult> {
    requireOneStatement(sql);
    await this.#turn();
    const began = performance.now();
    try {
      const limits = { time: this.#time, memory: MEMORY, maxRows, maxSize: SIZE };
      const answer = await this.#answerTo({ file: this.#file, sql, ...limits });
      if ('broken' in answer) throw new Fault('unavailable', `the database cannot be queried: ${answer.broken}`);
      // How far a query gets within the limits depends on the machine, so this is not an invalid request.
      if ('overrun' in answer) throw new Busy(`sql: ${answer.overrun}; ask for less, or try again later`);
      if ('refusal' in answer) throw refusal(answer.refusal);
      return { ...answer, ms: Math.round(performance.now() - began) };
    } finally {
      // The longest-waiting query takes this one's place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  async #turn(): Promise<void> {
    if (this.#running < AT_ONCE) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= WAITING) throw new Busy(`${WAITING} queries are waiting already; try again later`);
    await new Promise<void>((next) => this.#waiting.push(next));
  }

  async #answerTo(task: QueryTask): Promise<QueryAnswer> {
    const idle = this.#idle.pop();
    const child = idle?.connected ? idle : started();
    const over = new AbortController();
    try {
      child.send(task, () => undefined);
      const ended = once(child, 'exit', over).then((): [QueryAnswer] => [{ overrun: 'its process ended' }]);
      const [answer]: QueryAnswer[] = await Promise.race([once(child, 'message', over), ended]);
      if (answer === undefined) throw new Error('no answer');
      if (!('overrun' in answer)) this.#idle.push(child);
      this.#end.refresh();
      return answer;
    } catch (error) {
      throw new Fault('unavailable', `the process that runs queries could not be started: ${messageOf(error)}`);
    } finally {
      over.abort();
    }
  }
}

/** A process without an environment, which ends with this one and does not keep it alive. */
function started(): ChildProcess {
  const child = fork(new URL('../store/records/query-process.ts', import.meta.url), {
    execPath: existsSync(NODE) ? NODE : process.execPath,
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

function refusal(words: string): Fault {
  const cure = /prohibited|not authorized|no such table/.test(words)
    ? '; GET /v1/bq/tables lists what may be read, and nothing may be written'
    : '';
  return new Fault('invalid_request', `sql: ${words}${cure}`, { field: 'sql' });
}

/**
 * Quoted text, comments, and statement separators. An unclosed one extends to the end, as in SQLite; searching for the
 * end again at each opening mark would take quadratic time.
 */
const TOKEN =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g;

/** Throws `invalid_request` for more than one statement: SQLite would run only the first and ignore the rest. */
export function requireOneStatement(sql: string): void {
  const bare = sql.replace(TOKEN, (token) => {
    if (token === ';') return token;
    return token.startsWith('--') || token.startsWith('/*') ? ' ' : 'x';
  });
  if (/;\s*[^\s;]/.test(bare)) {
    throw new Fault('invalid_request', 'sql: it has more than one statement; send one at a time', { field: 'sql' });
  }
  if (/^[\s;]*$/.test(bare)) {
    throw new Fault('invalid_request', 'sql: it is empty; send a SELECT', { field: 'sql' });
  }
}
