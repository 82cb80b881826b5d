import { setTimeout as sleep } from 'node:timers/promises';
import type { Intake } from './intake.ts';

/** Maximum duration of a transaction of a long command, in ms. No other process can write meanwhile. */
const TURN = 20;

/**
 * Runs `next` until it returns false, in short transactions. While a server runs on the same database, each pause lasts
 * as long as the preceding transaction, because SQLite only polls for the lock and a waiting server answers no
 * requests. Otherwise a transaction may last `turnAlone` ms. `signal` stops between two transactions.
 */
export async function inShortTransactions(
  { store, now }: { store: Pick<Intake['store'], 'transact' | 'leases'>; now(): number },
  next: () => boolean,
  {
    transact = (work) => store.transact(work),
    turnAlone = TURN,
    signal,
  }: { transact?: (work: () => void) => void; turnAlone?: number; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  for (let goesOn = true; goesOn && signal?.aborted !== true; ) {
    // Every running server holds a lease.
    const isShared = store.leases.isAnyHeld(now());
    const start = performance.now();
    transact(() => {
      do goesOn = next();
      while (goesOn && performance.now() - start < (isShared ? TURN : turnAlone));
    });
    if (goesOn) await sleep(isShared ? performance.now() - start : 0);
  }
}
