import type { Logger } from 'pino';
import type { AppContext } from '../../server/context.ts';
import { poll } from '../../shared/workers/poll.ts';

/** How often the job checks for new values, in ms. */
const POLL_EVERY = 1_000;

/**
 * Indexes the values of new probes for search, and after an upgrade those of all older ones. Returns a function that
 * stops it.
 */
export function startValueIndex({ store }: AppContext, logger: Logger): () => Promise<void> {
  const round = (): number => {
    const began = performance.now();
    if (!store.records.indexValues()) return POLL_EVERY;
    // Pauses as long as it worked, so that requests and probes get at least half of the time.
    return performance.now() - began;
  };
  return poll(round, {
    job: 'the index of values',
    logger,
    failed: 'indexing values failed; retrying',
  });
}
