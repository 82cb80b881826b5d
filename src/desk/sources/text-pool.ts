import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { MINUTE } from '../../proof/time.ts';
import type { TextFound, TextTask } from './text-worker.ts';

/** The heap of the thread, in MB. */
const HEAP = 512;
/** When a thread that reads one source is ended, in ms: a PDF can hold a program that never ends. */
const DEADLINE = MINUTE;

/** The thread on which sources become text. It exists while it has work. */
export function textPool({ deadline = DEADLINE } = {}) {
  const pool = new Piscina({
    filename: fileURLToPath(new URL('./text-worker.ts', import.meta.url)),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 10_000,
    resourceLimits: { maxOldGenerationSizeMb: HEAP },
  });
  // Of a thread that fails before its first task, which gets the same error from the next one.
  pool.on('error', () => {});
  let last: Promise<unknown> = Promise.resolve();
  return {
    /** Rejects when the source cannot be read, is too much for the thread, or does not end. */
    find(task: TextTask): Promise<TextFound> {
      // Its time begins with its turn: one source that does not end must not end those that wait for the thread.
      const found = last.then(() => pool.run(task, { signal: AbortSignal.timeout(deadline) }));
      last = found.catch(() => {});
      return found;
    },
    close: (): Promise<void> => pool.destroy(),
  };
}
export type TextPool = ReturnType<typeof textPool>;
