import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { Settings } from '../../server/env.ts';
import { Fault, type FaultCode } from '../../shared/fault.ts';
import type { PrintedOutput } from '../press/manifest.ts';
import type { PrinterJob, Workers } from '../press/press.ts';

/** How many outputs a thread prints before it reports the results. */
const BATCH_SIZE = 16;
/** How many batches a thread has at a time, so that the next one is ready when a batch is printed. */
const BATCHES = 2;
/** Maximum number of threads. More would wait for the disk. */
const THREADS_MAX = 4;
/** The heap of a thread, in MB: a smaller one collects garbage all the time while pages have fonts. */
const HEAP = 256;
/** The heap for very long pieces: the entire content of a feed is in memory at once. */
const LARGE_HEAP = 2_048;

/** The settings that all outputs of one press share. */
export interface WorkerJob extends Pick<PrinterJob, 'paper' | 'site' | 'checksDisk'> {
  folder: string;
  /** The folder for unfinished files. Each thread uses its own subfolder. */
  scratch: string;
  /** Whether the tree was new when the press began. */
  isNew: boolean;
  now: number;
  /** See `LeaseDeadline.shared`. */
  deadline: SharedArrayBuffer;
}

/** The result of a batch, or its failure. A `Fault` would lose its code on the way between threads. */
export type Printed =
  | { results: PrintedOutput[] }
  | { fault: { code: FaultCode; message: string; details: Record<string, unknown> } };

export type PressPool = ReturnType<typeof pressPool>;

/** Threads that print outputs (`press-worker.ts`), each with its own snapshot of the archive and a bounded heap. */
export function pressPool(settings: Settings, workers: Workers) {
  const threads = workers === 'large' ? 1 : Math.min(availableParallelism(), THREADS_MAX);
  const pool = new Piscina({
    filename: fileURLToPath(new URL('./press-worker.ts', import.meta.url)),
    workerData: settings,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: BATCHES,
    resourceLimits: { maxOldGenerationSizeMb: workers === 'large' ? LARGE_HEAP : HEAP },
  });
  // Emitted when a thread fails before its first task. The task gets the same error from the replacement thread.
  pool.on('error', () => {});
  return {
    workers,
    /** Makes every thread take a snapshot of the ledger. Returns the highest change number in each snapshot. */
    takeSnapshots(): Promise<number[]> {
      // The pool gives each task to an idle thread, so each thread gets one.
      const take = (): Promise<number> => pool.run(null, { name: 'takeSnapshot' });
      return Promise.all(Array.from({ length: threads }, take));
    },
    /** Prints outputs. Resolves when every file is on disk; after a failure, no thread begins another batch. */
    async print(job: WorkerJob, names: string[], done: (result: PrintedOutput) => void): Promise<void> {
      // All loops share one iterator: if one throws, it ends for the others.
      const batches = batchesOf(names);
      const printNext = async (): Promise<void> => {
        for (const batch of batches) {
          const printed: Printed = await pool.run({ job, names: batch }, { name: 'print' });
          if ('fault' in printed) throw new Fault(printed.fault.code, printed.fault.message, printed.fault.details);
          for (const result of printed.results) done(result);
        }
      };
      const works = Array.from({ length: threads * BATCHES }, printNext);
      for (const outcome of await Promise.allSettled(works)) if (outcome.status === 'rejected') throw outcome.reason;
    },
    stop: (): Promise<void> => pool.destroy(),
  };
}

function* batchesOf(names: string[]): Generator<string[]> {
  for (let at = 0; at < names.length; at += BATCH_SIZE) yield names.slice(at, at + BATCH_SIZE);
}
