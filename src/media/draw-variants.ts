import sharp from 'sharp';
import { Budget } from '../shared/workers/budget.ts';
import type { Variant } from './variants.ts';

/** How many pictures are encoded at a time. libuv has four threads: the others stay free for files and names. */
const AT_ONCE = 2;
const turns = new Budget(AT_ONCE);
/** In pixels. A larger picture is encoded alone, because decoding it takes much memory. */
const LARGE = 24_000_000;

/** sharp's scale from 0 to 100. */
const AVIF = { quality: 48, effort: 2 };
/** For widths that only dense screens and the art of a story show, where the lower quality is not visible. */
const WIDE_AVIF = { ...AVIF, quality: 36 };
/** In pixels. */
const WIDE = 800;
const WEBP = { quality: 74, effort: 4 };

/** The grey that replaces a picture that cannot be decoded, so that its pages still have something to show. */
const UNREADABLE = '#808080';

/**
 * Draws variants of a picture, by path. Turns it upright, converts it to sRGB, takes the first frame of an animation,
 * and leaves out all metadata: the location, the camera, the profile. A picture that cannot be decoded becomes a grey
 * one of its shape, because its pages already name the files. `read` gives the bytes of the picture. Rejects when
 * `read` does, because drawings are permanent and such an error may be transient.
 */
export async function drawVariants(
  read: () => Promise<Uint8Array>,
  variants: readonly Variant[],
  shape: { width: number; height: number },
): Promise<Map<string, Uint8Array>> {
  return turns.within(shape.width * shape.height > LARGE ? AT_ONCE : 1, async () => {
    const widest = Math.max(...variants.map(({ width }) => width));
    const bytes = await read();
    const { data, info } = await decoded(bytes, widest).catch(() => blank(shape, widest));
    const drawn = new Map<string, Uint8Array>();
    for (const { path, width, format } of variants) {
      const image = sharp(data, { raw: info });
      if (width < info.width) image.resize({ width });
      drawn.set(
        path,
        await (format === 'avif' ? image.avif(width > WIDE ? WIDE_AVIF : AVIF) : image.webp(WEBP)).toBuffer(),
      );
    }
    return drawn;
  });
}

/** The first bytes of JPEG, PNG, GIF, WebP and AVIF. No other format is decoded: SVG, PDF and others may name files. */
const PICTURE = /^(?:\xff\xd8\xff|\x89PNG|GIF8|RIFF.{4}WEBP|.{4}ftypavi[fs])/s;

/**
 * Draws an untrusted picture as WebP, at most `side` pixels wide and high. Null for anything that is not a picture, is
 * damaged or has too many pixels.
 */
export async function drawThumbnail(bytes: Uint8Array, side: number) {
  if (!PICTURE.test(Buffer.from(bytes.subarray(0, 16)).toString('latin1'))) return null;
  return turns.within(1, async () => {
    const fit = { width: side, height: side, fit: 'inside', withoutEnlargement: true } as const;
    const image = sharp(bytes, { failOn: 'error', limitInputPixels: LARGE }).autoOrient().resize(fit);
    const drawn = image.toColourspace('srgb').webp(WEBP).toBuffer({ resolveWithObject: true });
    return drawn.then(({ data, info: { width, height } }) => ({ bytes: data, width, height })).catch(() => null);
  });
}

type Pixels = { data: Buffer; info: { width: number; height: number; channels: 1 | 2 | 3 | 4 } };

/** The pixels in sRGB, upright, at most `widest` wide. Decodes them once, at the size that is needed. */
async function decoded(bytes: Uint8Array, widest: number): Promise<Pixels> {
  return sharp(bytes, { failOn: 'none', limitInputPixels: false })
    .autoOrient()
    .resize({ width: widest, withoutEnlargement: true })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
}

async function blank(shape: { width: number; height: number }, widest: number): Promise<Pixels> {
  const width = Math.min(widest, shape.width);
  const height = Math.max(1, Math.round((shape.height * width) / shape.width));
  const picture = sharp({ create: { width, height, channels: 3, background: UNREADABLE } });
  return picture.raw().toBuffer({ resolveWithObject: true });
}
