import { extname } from 'node:path';
import { contentType } from 'mime-types';
import { MEDIA_READER, type MediaReader } from '../desk/ingest/filed-media.ts';
import type { Media } from '../desk/papers/media.ts';

/** Up to this many new files are read before the page is shown; more are read in the background. */
const AT_ONCE = 8;
const PARALLEL = 2;

/** A media file: its path below the paper's folder, and its path on disk. */
interface MediaName {
  name: string;
  path: string;
}

/** The result of reading a media file, valid while its stamp is unchanged; null while it is unread. */
interface Known {
  stamp: string;
  outcome: { media: Media } | { error: unknown } | null;
}

/** Reads each media file once per change. Until then it has only a name, so that even a large folder shows at once. */
export function backgroundMediaReader(stampOf: (path: string) => string) {
  const all = new Map<string, Known>();

  const knownOf = (path: string): Known => {
    const stamp = stampOf(path);
    let known = all.get(path);
    if (known?.stamp !== stamp) {
      known = { stamp, outcome: null };
      all.set(path, known);
    }
    return known;
  };

  const readAll = async (files: readonly MediaName[]): Promise<void> => {
    const queue = files.values();
    const take = async () => {
      for (const { name, path } of queue) {
        const known = knownOf(path);
        try {
          known.outcome = { media: await MEDIA_READER.inspect(name, path) };
        } catch (error) {
          known.outcome = { error };
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, take));
  };

  const reader: MediaReader = {
    digestOf: async (path) => `${knownOf(path).outcome === null ? 'unread' : 'read'} ${stampOf(path)}`,
    async inspect(name, path) {
      const { outcome } = knownOf(path);
      if (outcome === null) return unreadMedia(name, path);
      if ('error' in outcome) throw outcome.error;
      return { ...outcome.media, path: name };
    },
  };
  return {
    ...reader,
    /** Reads new and changed files: a few at once, many in the background, which calls `read` when done. */
    async read(files: readonly MediaName[], read: () => void): Promise<void> {
      const unread = files.filter(({ path }) => knownOf(path).outcome === null);
      const work = readAll(unread);
      if (unread.length <= AT_ONCE) await work;
      else void work.then(read);
    },
  };
}

function unreadMedia(name: string, path: string): Media {
  const media_type = contentType(extname(path)) || 'application/octet-stream';
  return {
    path: name,
    digest: `unread:${path}`,
    media_type: media_type.replace(/;.*$/, ''),
    bytes: 0,
    width: null,
    height: null,
    duration_ms: null,
  };
}
