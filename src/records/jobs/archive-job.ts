import type { Logger } from 'pino';
import { DAY } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { openArchivePlace } from '../../shared/storage/archive-place.ts';
import { poll } from '../../shared/workers/poll.ts';
import { lookAtArchive } from './archive-look.ts';

/**
 * Reads the archive's manifest, repeatedly until that succeeds: the scanner waits for it. Returns a function that stops
 * it.
 */
export function startArchiveLook(app: AppContext, logger: Logger): () => Promise<void> {
  const ending = new AbortController();
  const place = openArchivePlace(app.settings, ending.signal);
  const round = async (): Promise<number> => {
    await lookAtArchive(app, place).catch((error: unknown) => {
      if (!ending.signal.aborted) throw error;
    });
    return DAY;
  };
  const failed = 'observations wait until the archive can be read; retrying';
  const stop = poll(round, { job: 'the archive', logger, failed });
  return () => {
    ending.abort();
    return stop();
  };
}
