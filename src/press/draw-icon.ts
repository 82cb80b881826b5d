import sharp from 'sharp';
import { ICON_GROUND } from './icon.ts';

/** Pixels per inch at which an SVG is read, so that small drawings are sharp when enlarged. */
const DENSITY = 600;
const ICO_SIDE = 32;

/** Draws an icon as a square PNG. `ground` fills what the picture leaves transparent. */
export async function drawIcon(source: Uint8Array, side: number, ground = false): Promise<Uint8Array> {
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  const image = sharp(source, { density: DENSITY }).resize(side, side, { fit: 'contain', background: clear });
  return (ground ? image.flatten({ background: ICON_GROUND }) : image).png({ compressionLevel: 9 }).toBuffer();
}

/** Draws an icon as an ICO file with one PNG in it. */
export async function drawIco(source: Uint8Array): Promise<Uint8Array> {
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
