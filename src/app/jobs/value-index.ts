import type { Logger } from 'pino';
import type { AppContext } from '../context.ts';
import { poll } from './poll.ts';

/** How often the job looks for values that were seen for the first time, in ms. */
const POLL_EVERY = 1_000;

/**
 * Keeps the search within values up with the looks; at the first start after an
 * upgrade it takes all values from before, while everything else goes on. Any
 * number of processes may do it over one database. Returns a function that stops it.
 */
export function startValueIndex({ store }: AppContext, logger: Logger): () => Promise<void> {
  const round = (): number => {
    const began = performance.now();
    if (!store.records.indexValues()) return POLL_EVERY;
    // It rests as long as it worked: callers and looks have at least half of the time.
    return performance.now() - began;
  };
  return poll(round, {
    job: 'the index of values',
    logger,
    failed: 'values cannot be indexed just now; it is tried again',
  });
}
