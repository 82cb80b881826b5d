import type { Logger } from 'pino';
import { plural } from '../../plural.ts';
import { MINUTE } from '../../time.ts';
import type { AppContext } from '../context.ts';
import { measurements } from '../measurements.ts';
import { MediaCopies } from '../media-copies.ts';
import { openMediaStore } from '../media-place.ts';
import { lookForMissing } from '../missing-media.ts';
import { poll } from './poll.ts';

const JOB = 'media';
/** How often the job looks for media that were filed, in ms. */
const LOOK_EVERY = 500;

/**
 * Sends filed media to MEDIA_URL, and looks once a minute for what was missing, there and on the disk. A place that
 * fails holds up nothing. Returns a function that stops it.
 */
export function startMediaCopies(app: AppContext, logger: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const place = openMediaStore(app.settings, stopping.signal);
  const copies = place === null ? null : new MediaCopies(app, place);
  let lookedAt = performance.now();
  const round = async (): Promise<number> => {
    if (performance.now() - lookedAt >= MINUTE) {
      lookedAt = performance.now();
      await lookForMissing(app, { fetches: true });
    }
    try {
      const sent = (await copies?.send(stopping.signal)) ?? 0;
      if (sent > 0) logger.info({ job: JOB, to: place?.name }, `${plural(sent, 'media file')} kept`);
    } finally {
      measurements.mediaCopies.publish({ waiting: copies?.waiting ?? 0 });
    }
    return copies === null ? MINUTE : LOOK_EVERY;
  };
  const stop = poll(round, { job: JOB, logger, failed: 'media are not kept at MEDIA_URL; retrying' });
  return async () => {
    stopping.abort();
    await stop();
  };
}
