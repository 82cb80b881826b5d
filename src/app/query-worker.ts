import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../fault.ts';
import { PROJECT } from '../project.ts';
import type { QueryAnswer, QueryTask } from '../store/query-process.ts';

/** The time limit of a query, in ms. */
export const QUERY_TIME = 5_000;
/** The memory limit of a query's process, in bytes, and the interval at which it is checked, in ms. */
const MEMORY = 400_000_000;
const WATCH_EVERY = 50;
/** How long an idle process is kept, in ms. */
const IDLE = 10_000;
const PAGE = 4_096;
/** The Node that npm installed: SQLite's authorizer came with 24.10, and this process may run on an older one. */
const NODE = join(PROJECT, 'node_modules/.bin/node');

/**
 * A child process that runs queries, one at a time. It starts with the first query, has no environment, and is killed
 * when a query exceeds a limit or after a long idle time. It never keeps this process alive, and ends with it.
 */
export class QueryWorker {
  readonly #time: number;
  #child: ChildProcess | null = null;
  #idle: NodeJS.Timeout | undefined;

  /** `time` is the time limit of a query, in ms. */
  constructor(time: number) {
    this.#time = time;
  }

  /** Runs a query. Throws `unavailable` when no process could be started. */
  async ask(task: QueryTask): Promise<QueryAnswer> {
    clearTimeout(this.#idle);
    const child = this.#child?.connected === true ? this.#child : await started();
    this.#child = child;
    keepAlive(child, true);
    try {
      return await this.#answer(child, task);
    } finally {
      keepAlive(child, false);
      this.#idle = setTimeout(() => this.#end(), IDLE).unref();
    }
  }

  #answer(child: ChildProcess, task: QueryTask): Promise<QueryAnswer> {
    return new Promise((resolve) => {
      const settle = (answer: QueryAnswer): void => {
        clearTimeout(late);
        clearInterval(watch);
        child.off('message', settle).off('exit', gone);
        resolve(answer);
      };
      const giveUp = (words: string): void => {
        this.#end();
        settle({ overrun: words });
      };
      const gone = (): void => giveUp('its process ended');
      const late = setTimeout(() => giveUp(`it took more than ${this.#time / 1_000} seconds`), this.#time);
      const watch = setInterval(async () => {
        if ((await residentOf(child.pid)) > MEMORY) giveUp(`it took more than ${MEMORY / 1e6} MB of memory`);
      }, WATCH_EVERY);
      child.once('message', settle).once('exit', gone);
      child.send(task, (error) => {
        if (error !== null) gone();
      });
    });
  }

  #end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }
}

async function started(): Promise<ChildProcess> {
  const child = fork(new URL('../store/query-process.ts', import.meta.url), {
    execPath: existsSync(NODE) ? NODE : process.execPath,
    env: {},
    execArgv: ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // The pending query notices when the child exits.
  child.on('error', () => {});
  const [word] = await Promise.race([once(child, 'message'), once(child, 'exit')]).catch(() => []);
  if (word === 'ready') return child;
  throw new Fault('unavailable', 'the process that runs queries could not be started');
}

/** Sets whether a child keeps this process alive. */
function keepAlive(child: ChildProcess, yes: boolean): void {
  const channel = child.channel as { ref(): void; unref(): void } | null | undefined;
  if (yes) {
    child.ref();
    channel?.ref();
  } else {
    child.unref();
    channel?.unref();
  }
}

/** The resident memory of a process, in bytes; 0 where the system does not report it. */
async function residentOf(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return Number(text.split(' ')[1] ?? 0) * PAGE;
}
