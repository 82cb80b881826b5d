import { readFile } from 'node:fs/promises';
import { sha256 } from '../../proof/basis.ts';
import type { Media } from '../papers/media.ts';

/** What may hold EXIF data or XMP. */
const WITH_METADATA = /^image\/(?:jpeg|png|webp|avif|gif)$/;

/** Reads the properties of a file on disk. Throws a `Fault` with the problem and the remedy. */
export type InspectMedia = (name: string, path: string) => Promise<Media>;

export const inspectFile: InspectMedia = async (name, path) => {
  // Loaded on demand, because its libraries are large and most runs have no new media.
  const { inspectMedia } = await import('../../media/inspect.ts');
  return inspectMedia(name, path);
};

/** A file as it is filed under a name: its record, and the bytes to store instead where they differ from the file's. */
export interface FiledMedia {
  media: Media;
  changed: Uint8Array | null;
}

/** Checks a media file, and takes out what is not published. Throws what `inspect` throws. */
export async function filedMedia(name: string, path: string, inspect: InspectMedia = inspectFile): Promise<FiledMedia> {
  const media: Media = { ...(await inspect(name, path)), path: name };
  const changed = await withoutLocation(media, path);
  return changed === null
    ? { media, changed }
    : { media: { ...media, digest: sha256(changed), bytes: changed.byteLength }, changed };
}

/** A picture without the location where it was taken, often a home address. Null when it has none. */
async function withoutLocation({ media_type }: Media, path: string): Promise<Uint8Array | null> {
  if (!WITH_METADATA.test(media_type)) return null;
  const picture = await import('../../media/picture-location.ts');
  return picture.withoutLocation(await readFile(path));
}
