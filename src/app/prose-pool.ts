import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { CachedProse } from '../desk/readings.ts';
import { isCached, cacheProse } from '../desk/readings.ts';
import { Fault, refused } from '../fault.ts';
import { PROSE_MAX } from '../ledger/piece.ts';

/** Shorter prose is read at once, in UTF-16 units: the worst of that length takes some 50 ms. */
export const LONG_PROSE = 16_000;
/** The processor time that a reading may take, in ms, where the machine tells it; the worst that is known takes 1.2 s. */
const CPU_MAX = 2_000;
/** How long a reading is waited for on a machine that is busy elsewhere, in ms. */
const WAIT_MAX = 15_000;
/** One core is left to whoever else asks. */
const THREADS_MAX = Math.min(4, Math.max(1, availableParallelism() - 1));
/** How many may wait, and how many of them from one paper. */
const WAITING_MAX = 32;
const WAITING_OF_ONE = 8;
/** How long a thread is kept for the next prose, in ms. */
const IDLE = 10_000;
/** What a thread may keep, in MB; more is too heavy as well. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };

interface Job {
  /** Whose it is: each has its turn, however many it brings. */
  owner: string;
  prose: string;
  settle(outcome: { kept: CachedProse } | { fault: unknown }): void;
}

export interface ProseLimits {
  cpu: number;
  wait: number;
  threads: number;
  /** The code of a thread. */
  code: URL;
}

/**
 * Threads that read long prose before a transaction asks for it, so that nobody
 * else waits meanwhile. A reading is kept for whoever filed it (`desk/readings.ts`); the rules that
 * judge it are those of everybody. Threads are started when there is something
 * to read and ended when there is not.
 */
export class ProsePool {
  readonly #limits: ProseLimits;
  /** What waits, by whose it is, in the order of their turns. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #threads = new Set<Worker>();
  /** Those that have nothing to do, and when they are ended. */
  readonly #idle = new Map<Worker, NodeJS.Timeout>();

  constructor(limits: Partial<ProseLimits> = {}) {
    const code = new URL('./prose-worker.ts', import.meta.url);
    this.#limits = { cpu: CPU_MAX, wait: WAIT_MAX, threads: THREADS_MAX, code, ...limits };
  }

  /**
   * Has a prose read, when it is long. Throws `refused_by_door` when that takes
   * too much time or memory, `unavailable` when too many wait or its thread failed: then nothing
   * is known of it, and it may be sent again.
   */
  async prepare(whose: string, prose: string): Promise<void> {
    // What is too long to be taken is not read by anybody.
    if (prose.length <= LONG_PROSE || prose.length > PROSE_MAX || isCached(prose)) return;
    cacheProse(prose, await this.#read(whose, prose));
  }

  #read(whose: string, prose: string): Promise<CachedProse> {
    const own = this.#waiting.get(whose) ?? [];
    const all = [...this.#waiting.values()].reduce((sum, jobs) => sum + jobs.length, 0);
    if (own.length >= WAITING_OF_ONE || all >= WAITING_MAX) {
      throw new Fault('unavailable', 'too many long pieces wait to be read; send it again soon');
    }
    return new Promise((resolve, reject) => {
      const settle: Job['settle'] = (outcome) => ('kept' in outcome ? resolve(outcome.kept) : reject(outcome.fault));
      own.push({ owner: whose, prose, settle });
      this.#waiting.set(whose, own);
      this.#next();
    });
  }

  /** Ends the threads that have nothing to do. */
  close(): void {
    for (const worker of this.#idle.keys()) this.#end(worker);
  }

  /** Gives the next job to a thread that is free, or to a new one. */
  #next(): void {
    if (this.#idle.size === 0 && this.#threads.size >= this.#limits.threads) return;
    const job = this.#take();
    if (job === null) return;
    try {
      this.#work(this.#free(), job);
    } catch (error) {
      job.settle({ fault: readerFailed((error as Error).message) });
    }
  }

  #free(): Worker {
    const [idle] = this.#idle.keys();
    if (idle !== undefined) {
      clearTimeout(this.#idle.get(idle));
      this.#idle.delete(idle);
      idle.ref();
      return idle;
    }
    const worker = new Worker(this.#limits.code, { resourceLimits: HEAP });
    this.#threads.add(worker);
    // Whoever waits for it hears of it.
    worker.on('error', () => {});
    worker.once('exit', () => {
      this.#threads.delete(worker);
      clearTimeout(this.#idle.get(worker));
      this.#idle.delete(worker);
      this.#next();
    });
    return worker;
  }

  /** The first job of whoever has the turn; the next turn is that of the others. */
  #take(): Job | null {
    for (const [whose, jobs] of this.#waiting) {
      const job = jobs.shift();
      this.#waiting.delete(whose);
      if (jobs.length > 0) this.#waiting.set(whose, jobs);
      if (job !== undefined) return job;
    }
    return null;
  }

  #work(worker: Worker, job: Job): void {
    const { cpu, wait } = this.#limits;
    const watching = new AbortController();
    const end = (outcome: Parameters<Job['settle']>[0]): void => {
      if (watching.signal.aborted) return;
      watching.abort();
      worker.off('message', read).off('error', failed).off('exit', ended);
      if ('kept' in outcome) this.#rest(worker);
      else this.#end(worker);
      job.settle(outcome);
      this.#next();
    };
    const read = (kept: CachedProse): void => end({ kept });
    const failed = (error: Error & { code?: string }): void =>
      end({ fault: error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooHeavy(cpu) : readerFailed(error.message) });
    const ended = (): void => failed(new Error('it ended'));
    worker.once('message', read).once('error', failed).once('exit', ended);
    worker.postMessage(job.prose);
    void waitForLimit(worker, { cpu, wait, signal: watching.signal }).then((fault) => {
      if (fault !== null) end({ fault });
    });
  }

  #rest(worker: Worker): void {
    this.#idle.set(worker, setTimeout(() => this.#end(worker), IDLE).unref());
    // A server that ends does not wait for it.
    worker.unref();
  }

  #end(worker: Worker): void {
    clearTimeout(this.#idle.get(worker));
    this.#idle.delete(worker);
    void worker.terminate();
  }
}

/** Resolves with the fault of a reading that takes too long; with null when it ended before. Time of the processor counts, for the machine may be busy elsewhere. */
async function waitForLimit(
  worker: Worker,
  { cpu, wait, signal }: { cpu: number; wait: number; signal: AbortSignal },
): Promise<Fault | null> {
  const until = performance.now() + wait;
  const before = (await cpuOf(worker)) ?? 0;
  for (let spent = 0; ; ) {
    await pause(Math.max(10, cpu - spent), signal);
    const now = await cpuOf(worker);
    if (signal.aborted) return null;
    // Node before 24.6 does not tell it: there the clock must do.
    spent = now === null ? cpu : now - before;
    if (spent >= cpu) return tooHeavy(cpu);
    if (performance.now() >= until) return readerFailed('the machine is too busy');
  }
}

/** Processor time of a thread, in ms, since it began; null where Node does not tell. */
async function cpuOf(worker: Worker): Promise<number | null> {
  if (worker.cpuUsage === undefined) return null;
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    // It has not begun, or has ended.
    return 0;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function tooHeavy(cpu: number): Fault {
  const message = `reading this prose takes more than ${cpu / 1_000} s of processor time, or too much memory; split the piece, or leave mark-up out`;
  return refused([{ field: 'prose', rule: 'too_heavy', message }]);
}

function readerFailed(why: string): Fault {
  return new Fault('unavailable', `the thread that reads prose failed: ${why}; send it again`);
}
