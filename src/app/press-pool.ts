import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Settings } from '../env.ts';
import { Fault, type FaultCode } from '../fault.ts';
import type { Site } from '../press/edition.ts';
import type { HowToPrint } from '../press/press.ts';
import type { RenderResult } from '../press/printer.ts';
import type { Run } from '../press/steps.ts';
import { databaseFile, mediaFolder } from './context.ts';

/** How many runs of outputs a batch has at most. */
const BATCH_SIZE = 16;
/**
 * How many batches a worker has at once, so that it does not wait for the next one while the thread of the press prints
 * a batch, writes the manifest or looks for stray files. Towards the end it has fewer, so that the others get some.
 */
const AHEAD = { min: 2, max: 8 };
/** More threads than this would wait for the disk. */
const THREADS_MAX = 4;
/** The heap of a worker, in MB. What one page leaves behind is cheapest to clear while the processor still has it cached. */
const WORKER_HEAP = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16 };
/** The heap for very long pieces: the entire content of a feed is in memory at once. */
const LARGE_HEAP = { maxOldGenerationSizeMb: 2_048, maxYoungGenerationSizeMb: 48 };

/** What a worker is started with. It gets the paths, because `context.ts` would load half of the program. */
export interface WorkerStart {
  settings: Settings;
  database: string;
  media: string;
}

/** What all outputs of one press have in common. */
export interface WorkerJob {
  paper: string;
  site: Site;
  folder: string;
  /** The folder for unfinished files. */
  scratch: string;
  /** Whether the tree was new when the press began. */
  isNew: boolean;
  now: number;
  /** The deadline of the press's claim, as `ClaimDeadline.shared`. */
  deadline: SharedArrayBuffer;
  how: HowToPrint;
}

/** A message to a worker: take a snapshot of the ledger, begin a job, or print the named outputs. */
export type WorkerCall = { snapshot: true } | { job: WorkerJob } | { names: string[] };

/** A worker's message: the highest mark in its snapshot, the results of a batch, or why it failed. */
export type WorkerMessage =
  | { mark: number }
  | { results: RenderResult[] }
  | { failure: { code: FaultCode | null; message: string; details: Record<string, unknown> } };

/** What a press is given to print with. */
export interface PoolOptions {
  /** One worker with a large heap, for few but very long pieces; this leaves the other cores free. */
  large?: boolean;
  /** Whether the thread of the press prints too, in place of one worker. */
  printsHere?: boolean;
}

/** Why each worker ended; it may have ended while nothing was listening. */
const EXIT_ERRORS = new WeakMap<Worker, Error>();

/** Threads that print outputs, each with its own snapshot of the archive and a bounded heap. */
export class WorkerPool {
  readonly isLarge: boolean;
  readonly #workers: Worker[];
  readonly #printsHere: boolean;

  constructor(settings: Settings, { large = false, printsHere = false }: PoolOptions = {}) {
    this.isLarge = large;
    this.#printsHere = printsHere && !large;
    const threads = Math.min(availableParallelism(), THREADS_MAX);
    const start: WorkerStart = { settings, database: databaseFile(settings), media: mediaFolder(settings) };
    this.#workers = Array.from(
      { length: large ? 1 : Math.max(1, threads - (this.#printsHere ? 1 : 0)) },
      () =>
        new Worker(new URL('./press-worker.ts', import.meta.url), {
          workerData: start,
          resourceLimits: large ? LARGE_HEAP : WORKER_HEAP,
        }),
    );
    for (const worker of this.#workers) {
      worker.on('error', (error) => EXIT_ERRORS.set(worker, error));
      worker.on('exit', () => {
        if (!EXIT_ERRORS.has(worker)) {
          EXIT_ERRORS.set(worker, new Error('a press worker ended before its work was done'));
        }
      });
    }
  }

  /** Makes every worker take a snapshot of the ledger. Returns the highest mark in each snapshot. */
  async takeSnapshots(): Promise<number[]> {
    return Promise.all(
      this.#workers.map((worker) => {
        const mark = waitFor(worker, (message) => ('mark' in message ? message.mark : undefined));
        worker.postMessage({ snapshot: true } satisfies WorkerCall);
        return mark;
      }),
    );
  }

  /** The scratch folders of the workers, next to the one of the press. */
  scratchFolders(scratch: string): string[] {
    return this.#workers.map((_worker, index) => `${scratch}-${index}`);
  }

  /** Prints runs of outputs; `here` prints some on this thread. Resolves when every file is on disk. */
  async print(
    job: WorkerJob,
    runs: Run[],
    done: (result: RenderResult) => void,
    here: (names: string[]) => Promise<void>,
  ): Promise<void> {
    const threads = this.#workers.length + (this.#printsHere ? 1 : 0);
    let next = 0;
    const nextBatch = (): string[] => {
      // Towards the end, batches get smaller, so that no worker ends long after the others.
      const size = Math.min(BATCH_SIZE, Math.ceil((runs.length - next) / (4 * threads)));
      const batch = runs.slice(next, next + size);
      next += batch.length;
      return batch.flat();
    };
    const ahead = () => Math.min(AHEAD.max, Math.max(AHEAD.min, (runs.length - next) / (2 * threads * BATCH_SIZE)));
    const folders = this.scratchFolders(job.scratch);
    const works = this.#workers.map((worker, index) =>
      runWorker(worker, { ...job, scratch: folders[index] ?? job.scratch }, { nextBatch, ahead }, done),
    );
    if (this.#printsHere) works.push(runHere(here, nextBatch));
    const outcomes = await Promise.allSettled(
      works.map((work) =>
        work.catch((error: unknown) => {
          // After a failure, no thread is sent another batch. `allSettled` waits for those that the others have; what
          // the thread that failed still has ends with the pool.
          next = runs.length;
          throw error;
        }),
      ),
    );
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

async function runHere(print: (names: string[]) => Promise<void>, nextBatch: () => string[]): Promise<void> {
  for (let names = nextBatch(); names.length > 0; names = nextBatch()) await print(names);
}

/** Sends batches to one worker until none are left. */
function runWorker(
  worker: Worker,
  job: WorkerJob,
  { nextBatch, ahead }: { nextBatch: () => string[]; ahead: () => number },
  done: (result: RenderResult) => void,
): Promise<void> {
  let underWay = 0;
  /** Returns whether the worker has any. */
  const send = (): boolean => {
    while (underWay < ahead()) {
      const names = nextBatch();
      if (names.length === 0) break;
      underWay++;
      worker.postMessage({ names } satisfies WorkerCall);
    }
    return underWay > 0;
  };
  worker.postMessage({ job } satisfies WorkerCall);
  if (!send()) return Promise.resolve();
  return waitFor(worker, (message) => {
    if (!('results' in message)) return undefined;
    underWay--;
    for (const result of message.results) done(result);
    return send() ? undefined : true;
  }).then(() => {});
}

/** Listens to a worker until `take` returns a value. Rejects when the worker fails or ends, or `take` throws. */
function waitFor<T>(worker: Worker, take: (message: WorkerMessage) => T | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = (settle: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      settle();
    };
    const onError = (error: unknown) => end(() => reject(error));
    const onExit = () => onError(EXIT_ERRORS.get(worker));
    if (EXIT_ERRORS.has(worker)) return reject(EXIT_ERRORS.get(worker));
    const onMessage = (message: WorkerMessage) => {
      if ('failure' in message) {
        const { code, message: text, details } = message.failure;
        return onError(code === null ? new Error(text) : new Fault(code, text, details));
      }
      try {
        const found = take(message);
        if (found !== undefined) end(() => resolve(found));
      } catch (error) {
        onError(error);
      }
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}
