import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { sha256 } from '../../proof/basis.ts';
import { MINUTE } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { plural } from '../../shared/plural.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import { poll } from '../../shared/workers/poll.ts';
import { lookForMissing, type MediaStore, openMediaStore } from '../media/missing-media.ts';

/** Copies to the store at MEDIA_URL the media that the ledger names and the store lacks. */
export function mediaCopies({ store }: Pick<AppContext, 'store'>, mediaStore: MediaStore) {
  /** The digests in the store; null until it was listed. */
  let there: Set<string> | null = null;
  const waiting = new Set<string>();
  /** The number of the last media record that was processed. */
  let seen = 0;
  return {
    /** How many files the store lacks, as far as is known. */
    waiting: () => waiting.size,
    /** Returns how many files were sent. Throws the store's fault; unsent files wait for the next call. */
    async send(signal?: AbortSignal): Promise<number> {
      for (const { n, digest } of store.desk.mediaAfter(seen)) {
        if (there?.has(digest) !== true) waiting.add(digest);
        seen = n;
      }
      if (waiting.size === 0) return 0;
      there ??= await mediaStore.digests();
      let sent = 0;
      for (const digest of waiting) {
        if (!there.has(digest)) {
          // Files that are missing or damaged here cannot be sent.
          const bytes = await readFile(store.media.pathOf(digest)).catch(() => null);
          if (bytes === null || sha256(bytes) !== digest) continue;
          await mediaStore.put(digest, bytes, signal);
          there.add(digest);
          sent++;
        }
        waiting.delete(digest);
      }
      return sent;
    },
  };
}

const JOB = 'media';
/** How often the job looks for newly filed media, in ms. */
const LOOK_EVERY = 500;

/** Sends filed media to MEDIA_URL, and searches for missing media every minute. Returns a function that stops it. */
export function startMediaCopies(app: AppContext, logger: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const mediaStore = openMediaStore(app.settings, stopping.signal);
  const copies = mediaStore === null ? null : mediaCopies(app, mediaStore);
  let lookedAt = performance.now();
  const round = async (): Promise<number> => {
    if (performance.now() - lookedAt >= MINUTE) {
      lookedAt = performance.now();
      await lookForMissing(app, { fetches: true });
    }
    try {
      const sent = (await copies?.send(stopping.signal)) ?? 0;
      if (sent > 0) logger.info({ job: JOB, to: mediaStore?.name }, `${plural(sent, 'media file')} kept`);
    } finally {
      measurements.emit('mediaCopies', { waiting: copies?.waiting() ?? 0 });
    }
    return copies === null ? MINUTE : LOOK_EVERY;
  };
  const stop = poll(round, { job: JOB, logger, failed: 'media files could not be copied to MEDIA_URL; retrying' });
  return async () => {
    stopping.abort();
    await stop();
  };
}
