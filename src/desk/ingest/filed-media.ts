import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { sha256 } from '../../proof/basis.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault, refusalOf } from '../../shared/fault.ts';
import { digestOfFile } from '../../shared/files/file-digest.ts';
import type { Received } from '../media/upload.ts';
import type { Media } from '../papers/media.ts';

/** Media types that may contain EXIF or XMP data. */
const WITH_METADATA = /^image\/(?:jpeg|png|webp|avif|gif)$/;

export interface MediaReader {
  /** A digest of the file's content: `sha256:<hex>` of its bytes. */
  digestOf(path: string): Promise<string>;
  /** Reads the properties of a file on disk. Throws a `Fault` with the problem and the remedy. */
  inspect(name: string, path: string): Promise<Media>;
}

export const MEDIA_READER: MediaReader = {
  digestOf: digestOfFile,
  async inspect(name, path) {
    // Loaded on demand, because its libraries are large and most runs have no new media.
    const { inspectMedia } = await import('../../media/inspect.ts');
    return inspectMedia(name, path);
  },
};

/**
 * Checks a media file, and removes the location from a picture's metadata, which is often a home address. Returns the
 * record of the file under its name, and the bytes to store instead if they differ from the file's. Throws what
 * `inspect` throws.
 */
export async function filedMedia(
  name: string,
  path: string,
  { inspect }: Pick<MediaReader, 'inspect'> = MEDIA_READER,
): Promise<{ media: Media; changed: Uint8Array | null }> {
  const media: Media = { ...(await inspect(name, path)), path: name };
  if (!WITH_METADATA.test(media.media_type)) return { media, changed: null };
  const { withoutLocation } = await import('../../media/picture-location.ts');
  const changed = withoutLocation(await readFile(path));
  if (changed === null) return { media, changed };
  return { media: { ...media, digest: sha256(changed), bytes: changed.byteLength }, changed };
}

/** The end of the last check. Uploads are checked one at a time, because each picture is decoded in memory. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Checks a received file as filing from a folder does, calls `requireWanted`, and stores its bytes; then removes the
 * file. Throws `refused_by_door` for content that does not match the name.
 */
export function keepUpload(
  { store: { media: files } }: Pick<AppContext, 'store'>,
  path: string,
  { file }: Received,
  requireWanted: (media: Media) => void,
): Promise<Media> {
  const work = last.then(async () => {
    try {
      const { media, changed } = await filedMedia(path, file);
      requireWanted(media);
      if (changed === null) files.adopt(media.digest, file);
      else files.keepBytes(media.digest, changed);
      return media;
    } catch (error) {
      // Only faults of the check have the path in their details.
      if (!(error instanceof Fault) || error.details.path !== path) throw error;
      throw refusalOf([{ field: 'file', rule: 'media', message: error.message }]);
    } finally {
      rmSync(file, { force: true });
    }
  });
  last = work.catch(() => {});
  return work;
}
