import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type MediaFiles, missingMedia } from '../../media/media.ts';
import { pictureCache } from '../../media/picture-cache.ts';
import { portraitId } from '../../media/portrait.ts';
import { pictureId, type Variant, variantsOf } from '../../media/variants.ts';
import { sha256 } from '../../proof/basis.ts';
import type { Settings } from '../../server/env.ts';
import { codeOf } from '../../shared/fault.ts';
import type { Media } from '../papers/media.ts';
import { nextStamp } from './build.ts';
import type { Pictures } from './output.ts';

/** The file names of a portrait and of its digest in the cache. */
const PORTRAIT = 'portrait.png';
const DIGEST = 'portrait.sha256';

let code: string | undefined;

/** Identifies the code that draws portraits, and its packages. */
export function portraitCode(): string {
  code ??= nextStamp();
  return code;
}

/**
 * Draws variants of pictures and caches them under DATA_DIR for all papers and processes. If two processes draw the
 * same picture, they get the same files.
 */
export function openPictures({ dataDir }: Pick<Settings, 'dataDir'>, media: Pick<MediaFiles, 'pathOf'>): Pictures {
  const cache = pictureCache(join(dataDir, 'pictures'));
  const underWay = new Map<string, Promise<void>>();

  const original = async ({ digest }: Pick<Media, 'digest'>): Promise<Uint8Array> => {
    const bytes = await readFile(media.pathOf(digest)).catch((error: unknown) => {
      throw codeOf(error) === 'ENOENT' ? missingMedia(digest) : error;
    });
    if (sha256(bytes) !== digest) throw missingMedia(digest);
    return bytes;
  };
  const draw = async (found: Media): Promise<void> => {
    // Loaded on demand, because its libraries are large and most runs have no new pictures.
    const { drawVariants } = await import('../../media/draw-variants.ts');
    const shape = { width: found.width ?? 1, height: found.height ?? 1 };
    const drawn = await drawVariants(() => original(found), variantsOf(found), shape);
    await cache.keep(
      pictureId(found),
      [...drawn].map(([path, bytes]) => [basename(path), bytes]),
    );
  };
  const drawOnce = (found: Media, id: string): Promise<void> => {
    let work = underWay.get(id);
    if (work === undefined) {
      work = draw(found).finally(() => underWay.delete(id));
      underWay.set(id, work);
    }
    return work;
  };
  return {
    async portrait(portrait) {
      const id = portraitId(portrait, portraitCode());
      // The address does not depend on the bytes, so a damaged portrait would stay public forever.
      const [kept, digest] = await Promise.all([cache.read(id, PORTRAIT), cache.read(id, DIGEST)]).catch(() => []);
      if (kept && digest && sha256(kept) === Buffer.from(digest).toString()) return kept;
      const { drawPortrait } = await import('../../media/draw-portrait.ts');
      const bytes = await drawPortrait(portrait);
      // If the portrait cannot be cached, it is drawn again next time.
      const files: [string, Uint8Array][] = [
        [PORTRAIT, bytes],
        [DIGEST, Buffer.from(sha256(bytes))],
      ];
      await cache.keep(id, files).catch(() => {});
      return bytes;
    },
    original,
    isDrawn: (found) => cache.has(pictureId(found)),
    async variant(found: Media, { path }: Variant) {
      const id = pictureId(found);
      const kept = await cache.read(id, basename(path));
      if (kept !== null) return kept;
      await drawOnce(found, id);
      const drawn = await cache.read(id, basename(path));
      if (drawn === null) throw new Error(`${path} was drawn but cannot be read`);
      return drawn;
    },
  };
}
