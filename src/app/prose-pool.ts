import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { CachedProse } from '../desk/prose-cache.ts';
import { cacheProse, isCached } from '../desk/prose-cache.ts';
import { Busy, Fault, messageOf, refusalOf } from '../fault.ts';
import type { CitedFact } from '../ledger/piece.ts';
import { PROSE_MAX } from '../ledger/piece.ts';
import type { ProseHtml } from '../press/prose-html.ts';
import { proseHtml } from '../press/prose-html.ts';
import type { ProsePicture } from '../press/prose-pictures.ts';
import { Turns } from './turns.ts';

/** Shorter prose, in UTF-16 units, is parsed on the main thread: in the worst case this length takes about 50 ms. */
export const LONG_PROSE = 16_000;
/** The most CPU time for parsing, in ms, where Node reports it. The worst known case takes 1.2 s. */
const CPU_MAX = 2_000;
/** How long to wait for a thread when the machine is busy, in ms. */
const WAIT_MAX = 15_000;
/** Leaves one core to other requests. */
const THREADS_MAX = Math.min(4, Math.max(1, availableParallelism() - 1));
/** The most waiting pieces, in total and per paper. */
const WAITING_MAX = 32;
const WAITING_PER_PAPER = 8;
/** How long an idle thread is kept, in ms. */
const IDLE = 10_000;
/** The heap of a thread, in MB. Prose that needs more is refused, like prose that takes too long. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };

interface Job {
  paper: string;
  task: ProseTask;
  settle(outcome: { answer: unknown } | { fault: unknown }): void;
}

/** Prose to render, with the pictures of the paper that it shows, by their paths. */
export interface ProseToRender {
  prose: string;
  facts: CitedFact[];
  pictures: ReadonlyMap<string, ProsePicture>;
}

/** What a thread does: it parses a text (`CachedProse`), or renders one (`ProseHtml`). */
export type ProseTask = string | ProseToRender;

export interface ProseLimits {
  cpu: number;
  wait: number;
  threads: number;
  /** The threads' module. */
  code: URL;
}

/**
 * Threads that parse long prose before a transaction needs it, so that other requests need not wait. The result is
 * cached (`desk/prose-cache.ts`) and judged by the same rules as any other prose. Threads start on demand and end when
 * idle.
 */
export class ProsePool {
  readonly #limits: ProseLimits;
  readonly #waiting = new Turns<Job>(({ paper }) => paper);
  readonly #threads = new Set<Worker>();
  /** Idle threads, with the timers that end them. */
  readonly #idle = new Map<Worker, NodeJS.Timeout>();

  constructor(limits: Partial<ProseLimits> = {}) {
    const code = new URL('./prose-worker.ts', import.meta.url);
    this.#limits = { cpu: CPU_MAX, wait: WAIT_MAX, threads: THREADS_MAX, code, ...limits };
  }

  /**
   * Parses long prose on another thread and caches the result. Throws `refused_by_door` when parsing takes too much
   * time or memory. Throws `unavailable` when too many pieces wait or the thread fails; the caller may then send the
   * piece again.
   */
  async prepare(paper: string, prose: string): Promise<void> {
    // Prose over the filing limit is never parsed.
    if (prose.length <= LONG_PROSE || prose.length > PROSE_MAX || isCached(prose)) return;
    cacheProse(prose, (await this.#ask(paper, prose)) as CachedProse);
  }

  /** Renders prose, long prose on another thread. Throws as `prepare` does. */
  async render(paper: string, task: ProseToRender): Promise<ProseHtml> {
    if (task.prose.length > LONG_PROSE) return (await this.#ask(paper, task)) as ProseHtml;
    return proseHtml(task.prose, task.facts, (path) => task.pictures.get(path) ?? path);
  }

  #ask(paper: string, task: ProseTask): Promise<unknown> {
    if (this.#waiting.sizeOf(paper) >= WAITING_PER_PAPER || this.#waiting.size >= WAITING_MAX) {
      throw new Busy('too many long pieces are waiting to be parsed; send it again soon');
    }
    return new Promise((resolve, reject) => {
      const settle: Job['settle'] = (outcome) =>
        'answer' in outcome ? resolve(outcome.answer) : reject(outcome.fault);
      this.#waiting.add({ paper, task, settle });
      this.#next();
    });
  }

  /** Ends the idle threads. */
  close(): void {
    for (const worker of this.#idle.keys()) this.#end(worker);
  }

  /** Gives the next job to an idle thread, or to a new one. */
  #next(): void {
    if (this.#idle.size === 0 && this.#threads.size >= this.#limits.threads) return;
    const job = this.#waiting.take();
    if (job === null) return;
    try {
      this.#work(this.#free(), job);
    } catch (error) {
      job.settle({ fault: readerFailed(messageOf(error)) });
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
    // The listener of its job reports the error.
    worker.on('error', () => {});
    worker.once('exit', () => {
      this.#threads.delete(worker);
      clearTimeout(this.#idle.get(worker));
      this.#idle.delete(worker);
      this.#next();
    });
    return worker;
  }

  #work(worker: Worker, job: Job): void {
    const { cpu, wait } = this.#limits;
    const watching = new AbortController();
    const end = (outcome: Parameters<Job['settle']>[0]): void => {
      if (watching.signal.aborted) return;
      watching.abort();
      worker.off('message', parsed).off('error', failed).off('exit', ended);
      if ('answer' in outcome) this.#rest(worker);
      else this.#end(worker);
      job.settle(outcome);
      this.#next();
    };
    const parsed = (answer: unknown): void => end({ answer });
    const failed = (error: Error & { code?: string }): void =>
      end({ fault: error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooHeavy(cpu) : readerFailed(error.message) });
    const ended = (): void => failed(new Error('it ended'));
    worker.once('message', parsed).once('error', failed).once('exit', ended);
    worker.postMessage(job.task);
    void waitForLimit(worker, { cpu, wait, signal: watching.signal }).then((fault) => {
      if (fault !== null) end({ fault });
    });
  }

  #rest(worker: Worker): void {
    this.#idle.set(worker, setTimeout(() => this.#end(worker), IDLE).unref());
    // An idle thread does not keep the process alive.
    worker.unref();
  }

  #end(worker: Worker): void {
    clearTimeout(this.#idle.get(worker));
    this.#idle.delete(worker);
    void worker.terminate();
  }
}

/**
 * Resolves with a fault when parsing takes too long, or with null when it ended in time. It measures CPU time, because
 * the machine may be busy with other work.
 */
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
    // Node before 24.6 does not report CPU time, so use the elapsed time.
    spent = now === null ? cpu : now - before;
    if (spent >= cpu) return tooHeavy(cpu);
    if (performance.now() >= until) return readerFailed('the machine is too busy');
  }
}

/** The CPU time of a thread, in ms since it began; null where Node does not report it. */
async function cpuOf(worker: Worker): Promise<number | null> {
  if (worker.cpuUsage === undefined) return null;
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    // The thread has not started, or has ended.
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
  const message = `parsing this prose takes more than ${cpu / 1_000} s of CPU time, or too much memory; split the piece, or use less mark-up`;
  return refusalOf([{ field: 'prose', rule: 'too_heavy', message }]);
}

function readerFailed(why: string): Fault {
  return new Fault('unavailable', `the thread that parses prose failed: ${why}; send the piece again`);
}
