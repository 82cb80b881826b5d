import type { Media } from '../desk/papers/media.ts';
import { sha256 } from '../proof/basis.ts';

/** Increment when a variant's bytes would change for the same picture: with widths, formats or qualities. */
const RECIPE = 2;

/** In pixels. The smallest is for portraits beside a name. */
const VARIANT_WIDTHS = [160, 400, 800, 1600] as const;
/** Preferred first. */
const VARIANT_FORMATS = ['avif', 'webp'] as const;

/** A picture of a paper in another size and format. */
export interface Variant {
  format: (typeof VARIANT_FORMATS)[number];
  /** In pixels. */
  width: number;
  /** Under the paper's root: `pictures/<id>-<width>.<format>`. */
  path: string;
}

/** The formats that get variants. An SVG has every size already, and a GIF is mostly an animation. */
const STILL = /^image\/(?:jpeg|png|webp|avif)$/;

/** Names the variants of a picture by its content and the recipe: equal pictures of any paper share them. */
export function pictureId({ digest }: Pick<Media, 'digest'>): string {
  return sha256(`${RECIPE} ${digest}`).slice('sha256:'.length, 'sha256:'.length + 20);
}

/** Smallest first, none wider than the picture. Empty for a missing file, and for anything but a still picture. */
export function variantsOf(media: Omit<Media, 'path' | 'bytes' | 'height'>): Variant[] {
  const { width, media_type, duration_ms, missing } = media;
  if (missing || !STILL.test(media_type) || duration_ms !== null || width === null || width < 1) return [];
  const id = pictureId(media);
  const widest = Math.min(width, Math.max(...VARIANT_WIDTHS));
  const widths = [...VARIANT_WIDTHS.filter((one) => one < widest), widest];
  return VARIANT_FORMATS.flatMap((format) =>
    widths.map((one) => ({ format, width: one, path: `pictures/${id}-${one}.${format}` })),
  );
}
