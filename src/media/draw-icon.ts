import sharp from 'sharp';
import { ICON_GROUND, ICON_SIDE } from './icon.ts';

/** At this many pixels per inch, a unit of an SVG is a pixel. The other two are the bounds that sharp accepts. */
const DENSITY = 72;
const DENSITY_MIN = 1;
const DENSITY_MAX = 2_400;
const ICO_SIDE = 32;

/** An icon's picture, and an SVG to draw if that fails: the file is needed, because pages name it already. */
export interface IconSource {
  picture: Uint8Array;
  /** The longer side of the picture, in pixels. */
  longest: number;
  substitute: string;
}

/** Draws an icon as a square PNG. `ground` fills what the picture leaves transparent. */
export async function drawIcon(source: IconSource, side: number, ground = false): Promise<Uint8Array> {
  const { picture, longest, substitute } = source;
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  const draw = (bytes: Uint8Array, size: number): Promise<Uint8Array> => {
    // Rasterizes an SVG at twice the needed size, so that a small one is sharp, and a large one does not take
    // gigabytes.
    const density = Math.min(DENSITY_MAX, Math.max(DENSITY_MIN, (2 * side * DENSITY) / Math.max(1, size)));
    const image = sharp(bytes, { density }).resize(side, side, { fit: 'contain', background: clear });
    return (ground ? image.flatten({ background: ICON_GROUND }) : image).png({ compressionLevel: 9 }).toBuffer();
  };
  return draw(picture, longest).catch(() => draw(Buffer.from(substitute), ICON_SIDE));
}

export async function drawIco(source: IconSource): Promise<Uint8Array> {
  const png = await drawIcon(source, ICO_SIDE);
  const head = Buffer.alloc(22);
  // ICONDIR: reserved, type 1, one image. ICONDIRENTRY: sides, colors, reserved, planes, bits, size, offset.
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.writeUInt8(ICO_SIDE, 6);
  head.writeUInt8(ICO_SIDE, 7);
  head.writeUInt16LE(1, 10);
  head.writeUInt16LE(32, 12);
  head.writeUInt32LE(png.length, 14);
  head.writeUInt32LE(head.length, 18);
  return Buffer.concat([head, png]);
}
