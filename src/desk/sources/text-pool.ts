import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { MINUTE } from '../../proof/time.ts';
import type { Claim, ClaimTask, ObservationFound, ObservationTask } from './observation-worker.ts';
import type { Cited, Found, SourceBytes, SourceText } from './text-worker.ts';

/** The heap of the thread, in MB. */
const HEAP = 512;
/** When a task on the thread is aborted, in ms: a PDF can contain a program that never ends. */
const DEADLINE = MINUTE;
/** How much one task searches, in UTF-16 units: the text's length times the number of facts. Takes a second or two. */
const WORK = 2 ** 28;

const TEXTS = fileURLToPath(new URL('./text-worker.ts', import.meta.url));
const OBSERVATIONS = fileURLToPath(new URL('./observation-worker.ts', import.meta.url));

/** The text of a source, and what it says about each cited fact; empty when it has no text. */
export interface TextFound extends SourceText {
  found: Found[];
}

/**
 * The thread that extracts the text of sources and verifies observations. It exists while it has work. Sources take
 * turns. A source that many facts cite takes several turns, so that no number of quotes makes a turn longer.
 */
export function textPool({ deadline = DEADLINE, work = WORK } = {}) {
  const pool = new Piscina({
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 10_000,
    resourceLimits: { maxOldGenerationSizeMb: HEAP },
  });
  // Emitted when a thread fails before its first task, which gets the same error from the replacement thread.
  pool.on('error', () => {});
  let last: Promise<unknown> = Promise.resolve();
  /** The deadline starts with the task's turn, so that an endless task does not time out those waiting for it. */
  const turn = <Result>(name: string, task: object, filename = TEXTS): Promise<Result> => {
    const done = last.then(() => pool.run(task, { filename, name, signal: AbortSignal.timeout(deadline) }));
    last = done.catch(() => {});
    return done;
  };
  const findIn = async (text: string, cited: readonly Cited[]): Promise<Found[]> => {
    const found: Found[] = [];
    const size = Math.ceil(work / Math.max(1, text.length));
    while (found.length < cited.length) {
      const some = cited.slice(found.length, found.length + size);
      found.push(...(await turn<Found[]>('findIn', { text, cited: some })));
    }
    return found;
  };
  // Each method rejects when the source cannot be read, exceeds the thread's memory, or reaches the deadline.
  return {
    async find(source: SourceBytes, cited: readonly Cited[]): Promise<TextFound> {
      const { text, digest } = await turn<SourceText>('textOf', source);
      return { text, digest, found: text === null ? [] : await findIn(text, cited) };
    },
    /** What a text says about each cited fact. */
    findIn,
    claim: (task: ClaimTask): Promise<Claim> => turn('claim', task, OBSERVATIONS),
    observe: (task: ObservationTask): Promise<ObservationFound> => turn('observe', task, OBSERVATIONS),
    close: (): Promise<void> => pool.destroy(),
  };
}
export type TextPool = ReturnType<typeof textPool>;
