import { setTimeout as sleep } from 'node:timers/promises';
import type { AppContext } from './context.ts';

/** How long one transaction of a long command may last, in ms: nobody else writes meanwhile. */
const TURN = 20;

/**
 * Does a long list of work in short transactions, `next` until it returns false.
 * Where a server runs on the same database it leaves the lock alone for as long
 * as it held it: who waits for the lock only looks now and then whether it is
 * free, and a server answers nobody while it waits. `signal` ends the work.
 */
export async function inShortTransactions(
  { store, now }: AppContext,
  next: () => boolean,
  {
    transact = store.transact,
    signal,
  }: { transact?: (work: () => void) => void; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  for (let goesOn = true; goesOn && signal?.aborted !== true; ) {
    const start = performance.now();
    transact(() => {
      do goesOn = next();
      while (goesOn && performance.now() - start < TURN);
    });
    if (goesOn) await sleep(store.duties.isAnyHeld(now()) ? performance.now() - start : 0);
  }
}
