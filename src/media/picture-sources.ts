import type { PictureView } from '../desk/press/views.ts';

/**
 * How wide a picture is shown, by its position on the page: the `sizes` of HTML, without `>`, which ends tags for
 * simple readers.
 */
const SIZES = {
  /** The lead of the front. */
  lead: '(min-width: 62rem) min(50rem, 58vw), calc(100vw - 2rem)',
  /** The lead of a magazine's front. */
  cover: '(min-width: 80rem) 76rem, 100vw',
  /** A piece in a list or a block. */
  row: '(min-width: 62rem) 25rem, (min-width: 40rem) 50vw, calc(100vw - 2rem)',
  /**
   * The art of a story, and a wide figure. Slightly less than the real width, so that 800 pixels suffice at density 1.
   */
  art: '(min-width: 66rem) 50rem, (min-width: 42rem) 36.5rem, calc(100vw - 2rem)',
  /** The art of a story as wide as the page. */
  hero: '(min-width: 75rem) min(76rem, 95vw), (min-width: 66rem) 50rem, (min-width: 42rem) 36.5rem, calc(100vw - 2rem)',
  figure: '(min-width: 42rem) 38rem, calc(100vw - 2rem)',
  /** One of a few pictures in a line. */
  gallery: '(min-width: 42rem) 27rem, calc(100vw - 2rem)',
  /** The poster of an edition. */
  poster: '(min-width: 48rem) 45rem, calc(100vw - 2rem)',
  /** A portrait beside a persona's words. */
  portrait: '12rem',
  /** A portrait beside a name. */
  face: '72px',
  /** The card that other sites frame. */
  embed: '(min-width: 40rem) 40rem, 100vw',
} as const;
export type PicturePosition = keyof typeof SIZES;

/** The widest variant of a face, and the narrowest of any other picture, in pixels. */
const FACE_MAX = 400;
const PICTURE_MIN = 400;

/**
 * Preferred format first; none without variants. With `isLate`, browsers measure the width of lazy pictures themselves.
 */
export function imageSources({ variants }: Pick<PictureView, 'variants'>, position: PicturePosition, isLate: boolean) {
  const widest = Math.max(...variants.map(({ width }) => width));
  const fits = (width: number) => (position === 'face' ? width <= FACE_MAX : width >= Math.min(PICTURE_MIN, widest));
  const sizes = isLate ? `auto, ${SIZES[position]}` : SIZES[position];
  return [...Map.groupBy(variants, ({ type }) => type)].map(([type, some]) => ({
    type,
    srcset: some
      .filter(({ width }) => fits(width))
      .map(({ url, width }) => `${url} ${width}w`)
      .join(', '),
    sizes,
  }));
}

/**
 * The colour while a picture loads, as classes of picture.css. None for upright pictures: it would stay beside them.
 */
export function tone({ color, width, height }: Pick<PictureView, 'color' | 'width' | 'height'>): string | undefined {
  if (color === null || (height ?? 0) > (width ?? 0)) return undefined;
  const [r, g, b] = [1, 3, 5].map((at) => Math.round(Number.parseInt(color.slice(at, at + 2), 16) / 17).toString(16));
  return `toned r${r} g${g} b${b}`;
}
