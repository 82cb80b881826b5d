import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Settings } from '../env.ts';
import { Fault, type FaultCode } from '../fault.ts';
import type { Site } from '../press/edition.ts';
import type { RenderResult } from '../press/printer.ts';

/** How many sheets another hand takes at a time; it has two such loads, so that it never waits for the next. */
const BATCH_SIZE = 40;
/** More hands than this wait for the disk. */
const WORKERS_MAX = 4;
/** What a worker may keep, in MB. A page and all that it is made of are gone before the young third is full. */
const WORKER_HEAP = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 48 };

/** The same where pieces are very long: all that feeds show of them is made at once. */
const LARGE_HEAP = { maxOldGenerationSizeMb: 2_048, maxYoungGenerationSizeMb: 48 };

/** What all sheets of a press have in common. */
export interface WorkerJob {
  paper: string;
  site: Site;
  folder: string;
  scratch: string;
  /** Whether the tree was new when the press began. */
  isNew: boolean;
  checksDisk: boolean;
  now: number;
  /** Until when the press may write (`ClaimDeadline`). */
  deadline: SharedArrayBuffer;
}

/** What a worker is told: to hold the ledger as it is now, what the press is about, which sheets to print. */
export type WorkerCall = { hold: true } | { order: WorkerJob } | { names: string[] };

/** What a worker says: it holds the ledger at the last mark of this number, it has printed sheets, or it cannot. */
export type WorkerMessage =
  | { held: number }
  | { results: RenderResult[] }
  | { failure: { code: FaultCode | null; message: string; details: Record<string, unknown> } };

/** Why a worker is no more: it may have ended while nobody waited for it. */
const EXIT_ERRORS = new WeakMap<Worker, Error>();

/**
 * Other threads that print sheets, each with its own view of the archive and a
 * bounded heap. This one keeps the manifest, and so stays small.
 */
export class WorkerPool {
  readonly #workers: Worker[];

  /** A roomy crew is one worker for few and very long pieces, which leaves the other cores to whoever asks meanwhile. */
  constructor(settings: Settings, { roomy = false } = {}) {
    this.#workers = Array.from(
      { length: roomy ? 1 : Math.min(availableParallelism(), WORKERS_MAX) },
      () =>
        new Worker(new URL('./press-worker.ts', import.meta.url), {
          workerData: settings,
          resourceLimits: roomy ? LARGE_HEAP : WORKER_HEAP,
        }),
    );
    for (const worker of this.#workers) {
      worker.on('error', (error) => EXIT_ERRORS.set(worker, error));
      worker.on('exit', () => {
        if (!EXIT_ERRORS.has(worker)) EXIT_ERRORS.set(worker, new Error('a press worker ended before its work was done'));
      });
    }
  }

  /** Has every worker hold the ledger as it is. Returns the number of the last mark that each sees. */
  async takeSnapshots(): Promise<number[]> {
    return Promise.all(
      this.#workers.map((worker) => ask(worker, { hold: true }, (word) => ('held' in word ? word.held : undefined))),
    );
  }

  /** The folders in which the workers write, each its own, beside that of the press. */
  scratchFolders(aside: string): string[] {
    return this.#workers.map((_worker, index) => `${aside}-${index}`);
  }

  /** Prints sheets; returns when all their files are on disk. */
  async print(order: WorkerJob, names: string[], done: (result: RenderResult) => void): Promise<void> {
    let next = 0;
    const load = (): string[] => {
      const batch = names.slice(next, next + BATCH_SIZE);
      next += batch.length;
      return batch;
    };
    const asides = this.scratchFolders(order.scratch);
    const shifts = this.#workers.map((worker, index) =>
      runWorker(worker, { ...order, scratch: asides[index] ?? order.scratch }, load, done).catch((error: unknown) => {
        // No hand begins another load, and none writes on after the press has failed.
        next = names.length;
        throw error;
      }),
    );
    const ended = await Promise.allSettled(shifts);
    for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

/** One worker's part of the sheets: it prints loads until there are none. */
function runWorker(
  worker: Worker,
  order: WorkerJob,
  load: () => string[],
  done: (result: RenderResult) => void,
): Promise<void> {
  let loads = 0;
  const give = (): boolean => {
    const names = load();
    if (names.length === 0) return loads > 0;
    loads++;
    worker.postMessage({ names } satisfies WorkerCall);
    return true;
  };
  worker.postMessage({ order } satisfies WorkerCall);
  give();
  if (!give()) return Promise.resolve();
  return waitFor(worker, (word) => {
    if (!('results' in word)) return undefined;
    loads--;
    for (const result of word.results) done(result);
    return give() ? undefined : true;
  }).then(() => {});
}

function ask<T>(worker: Worker, call: WorkerCall, take: (word: WorkerMessage) => T | undefined): Promise<T> {
  const answer = waitFor(worker, take);
  worker.postMessage(call);
  return answer;
}

/** Listens to a worker until `take` has what it waits for. Rejects with what the worker, or `take`, cannot do. */
function waitFor<T>(worker: Worker, take: (word: WorkerMessage) => T | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = (settle: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      settle();
    };
    const onError = (error: unknown) => end(() => reject(error));
    const onExit = () => onError(EXIT_ERRORS.get(worker));
    if (EXIT_ERRORS.has(worker)) return reject(EXIT_ERRORS.get(worker));
    const onMessage = (word: WorkerMessage) => {
      if ('failure' in word) {
        const { code, message, details } = word.failure;
        return onError(code === null ? new Error(message) : new Fault(code, message, details));
      }
      try {
        const found = take(word);
        if (found !== undefined) end(() => resolve(found));
      } catch (error) {
        onError(error);
      }
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}
