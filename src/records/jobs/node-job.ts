import type { Logger } from 'pino';
import { HOUR } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { poll } from '../../shared/workers/poll.ts';
import { pauseOthers } from '../nodes.ts';

/** Pauses the hostnames that went to another node. Returns a function that stops it. */
export function startPausing(app: AppContext, logger: Logger): () => Promise<void> {
  const round = async (): Promise<number> => {
    await pauseOthers(app);
    return HOUR;
  };
  return poll(round, { job: 'pausing', logger, failed: 'the names of other nodes could not be paused; retrying' });
}
