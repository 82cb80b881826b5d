import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type { Pictures } from '../desk/press/output.ts';

/** The size of the cache, in bytes. */
const CACHED_MAX = 100_000_000;

/** Draws each variant of a picture when a page first asks for it, and keeps it in memory. */
export function deskPictures(pathOf: (digest: string) => string): Pictures {
  const drawn = new LRUCache<string, Uint8Array>({ maxSize: CACHED_MAX, sizeCalculation: ({ length }) => length || 1 });
  return {
    portrait: async (portrait) => (await import('../media/draw-portrait.ts')).drawPortrait(portrait),
    isDrawn: () => true,
    original: (media) => readFile(pathOf(media.digest)),
    async variant(media, variant) {
      const kept = drawn.get(variant.path);
      if (kept !== undefined) return kept;
      const { drawVariants } = await import('../media/draw-variants.ts');
      const shape = { width: media.width ?? 1, height: media.height ?? 1 };
      const bytes = (await drawVariants(() => readFile(pathOf(media.digest)), [variant], shape)).get(variant.path);
      if (bytes === undefined) throw new Error(`${variant.path} was not drawn`);
      drawn.set(variant.path, bytes);
      return bytes;
    },
  };
}
