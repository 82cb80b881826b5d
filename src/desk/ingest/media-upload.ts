import { rmSync } from 'node:fs';
import type { AppContext } from '../../server/context.ts';
import { Fault, refusalOf } from '../../shared/fault.ts';
import type { Received } from '../media/upload.ts';
import type { Media } from '../papers/media.ts';
import { filedMedia } from './filed-media.ts';

/** Uploads are checked one after the other: a picture is decoded whole, in memory. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Checks a received file as the filer does, asks `requireWanted`, and stores its bytes; removes the file. Throws
 * `refused_by_door` for content that does not match the name.
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
      // The check names the path in its details, as no other fault does.
      if (!(error instanceof Fault) || error.details.path !== path) throw error;
      throw refusalOf([{ field: 'file', rule: 'media', message: error.message }]);
    } finally {
      rmSync(file, { force: true });
    }
  });
  last = work.catch(() => {});
  return work;
}
