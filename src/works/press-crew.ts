import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Settings } from '../env.ts';
import { Fault, type FaultCode } from '../fault.ts';
import type { Place } from '../press/edition.ts';
import type { Result } from '../press/printer.ts';

/** How many sheets another hand takes at a time; it has two such loads, so that it never waits for the next. */
const LOAD = 40;
/** More hands than this wait for the disk. */
const HANDS_MAX = 4;
/** What a worker may keep, in MB. A page and all that it is made of are gone before the young third is full. */
const WORKER_HEAP = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 48 };

/** What a worker is told when it starts. */
export interface CrewOrder {
  settings: Settings;
  paper: string;
  place: Place;
  folder: string;
  aside: string;
  /** Whether the tree was new when the press began. */
  isNew: boolean;
  looks: boolean;
  now: number;
  /** Until when the press may write (`ClaimDeadline`). */
  deadline: SharedArrayBuffer;
}

/** What a worker says: it is ready for a load, has printed one, or cannot. */
export type CrewWord =
  | { results: Result[] }
  | { failure: { code: FaultCode | null; message: string; details: Record<string, unknown> } };

/**
 * Prints sheets on other threads, each with its own view of the archive and a
 * bounded heap. This one keeps the manifest, and so stays small.
 */
export async function printWithCrew(order: CrewOrder, names: string[], done: (result: Result) => void): Promise<void> {
  let next = 0;
  const load = (): string[] => {
    const batch = names.slice(next, next + LOAD);
    next += batch.length;
    return batch;
  };
  const hands = Array.from({ length: Math.min(availableParallelism(), HANDS_MAX) }, (_, index) =>
    hand({ ...order, aside: `${order.aside}-${index}` }, load, done).catch((error: unknown) => {
      // No hand begins another load, and none writes on after the press has failed.
      next = names.length;
      throw error;
    }),
  );
  const ended = await Promise.allSettled(hands);
  for (const shift of ended) if (shift.status === 'rejected') throw shift.reason;
}

/** One worker's shift: it prints loads until there are none. */
function hand(order: CrewOrder, load: () => string[], done: (result: Result) => void): Promise<void> {
  const worker = new Worker(new URL('./press-worker.ts', import.meta.url), {
    workerData: order,
    resourceLimits: WORKER_HEAP,
  });
  const shift = new Promise<void>((resolve, reject) => {
    let loads = 0;
    const give = (): void => {
      const names = load();
      if (names.length > 0) {
        loads++;
        worker.postMessage(names);
      } else if (loads === 0) resolve();
    };
    worker.on('message', (word: CrewWord) => {
      if ('failure' in word) {
        const { code, message, details } = word.failure;
        reject(code === null ? new Error(message) : new Fault(code, message, details));
        return;
      }
      for (const result of word.results) done(result);
      if (word.results.length > 0) loads--;
      else give();
      give();
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('a press worker ended before its work was done')));
  });
  return shift.finally(() => worker.terminate());
}
