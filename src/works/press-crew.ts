import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Settings } from '../env.ts';
import { Fault, type FaultCode } from '../fault.ts';
import type { Place } from '../press/edition.ts';
import type { Printer, Result } from '../press/printer.ts';

/** Each hand takes so many sheets at a time. */
const LOAD = 40;
/** More hands than this wait for the disk. */
const HANDS_MAX = 4;
/** What a worker may keep, in MB: its pages and its share of the archive's cache. */
const WORKER_HEAP = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16 };

/** What a worker is told when it starts. */
export interface CrewOrder {
  settings: Settings;
  paper: string;
  place: Place;
  folder: string;
  aside: string;
  looks: boolean;
  now: number;
}

/** What a worker says: it is ready for a load, has printed one, or cannot. */
export type CrewWord =
  | { results: Result[] }
  | { failure: { code: FaultCode | null; message: string; details: Record<string, unknown> } };

/** Prints sheets on this thread and on others, each with its own view of the archive. */
export async function printWithCrew(
  order: CrewOrder,
  printer: Printer,
  names: string[],
  done: (result: Result) => void,
): Promise<void> {
  let next = 0;
  const load = (): string[] => {
    const batch = names.slice(next, next + LOAD);
    next += batch.length;
    return batch;
  };
  const own = async (): Promise<void> => {
    for (let batch = load(); batch.length > 0; batch = load()) await printer.printAll(batch, done);
  };
  const others = Array.from({ length: Math.min(availableParallelism(), HANDS_MAX) - 1 }, (_, index) =>
    hand({ ...order, aside: `${order.aside}-${index}` }, load, done),
  );
  await Promise.all([own(), ...others]);
}

/** One worker's shift: it prints loads until there are none. */
function hand(order: CrewOrder, load: () => string[], done: (result: Result) => void): Promise<void> {
  const worker = new Worker(new URL('./press-worker.ts', import.meta.url), {
    workerData: order,
    resourceLimits: WORKER_HEAP,
  });
  const shift = new Promise<void>((resolve, reject) => {
    const give = (): void => {
      const names = load();
      if (names.length === 0) resolve();
      else worker.postMessage(names);
    };
    worker.on('message', (word: CrewWord) => {
      if ('failure' in word) {
        const { code, message, details } = word.failure;
        reject(code === null ? new Error(message) : new Fault(code, message, details));
        return;
      }
      for (const result of word.results) done(result);
      give();
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('a press worker ended before its work was done')));
  });
  return shift.finally(() => worker.terminate());
}
