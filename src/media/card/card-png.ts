import { promisify } from 'node:util';
import { constants, crc32, deflate } from 'node:zlib';
import sharp from 'sharp';

const deflated = promisify(deflate);

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const INDEXED_8_BIT = [8, 3, 0, 0, 0];
const COLORS_MAX = 256;
/** Large enough for a whole card, because zlib switches to a thread and back for each chunk of its output. */
const CHUNK = 1 << 18;

/**
 * Encodes an opaque SVG of a few flat colors as a PNG with a palette. sharp rasterizes it but does not encode the
 * file: its palette search takes longer than everything else together, and here the colors are known except for the
 * blends at the edges of letters. The file is half the size of sharp's output without a palette.
 */
export async function flatPng(svg: string): Promise<Uint8Array> {
  const { data, info } = await sharp(Buffer.from(svg)).raw().toBuffer({ resolveWithObject: true });
  const pixels = new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
  const { palette, rows } = indexed(pixels, info.width, 3) ?? indexed(pixels, info.width, 5) ?? tooManyColors();
  const size = Buffer.alloc(8);
  size.writeUInt32BE(info.width, 0);
  size.writeUInt32BE(info.height, 4);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', Buffer.from([...size, ...INDEXED_8_BIT])),
    chunk('PLTE', Buffer.from(palette.flatMap((color) => [color & 255, (color >> 8) & 255, (color >> 16) & 255]))),
    chunk('IDAT', await deflated(rows, { strategy: constants.Z_RLE, chunkSize: CHUNK })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Rows of palette entries. Colors that differ only in the lowest bits share the entry of the first one found. */
function indexed(pixels: Uint32Array, width: number, bits: number): { palette: number[]; rows: Uint8Array } | null {
  const mask = 0x01_01_01 * ((0xff << bits) & 0xff);
  const entries = new Map<number, number>();
  const palette: number[] = [];
  // Each row starts with its filter type: 0, none.
  const rows = new Uint8Array(pixels.length + pixels.length / width);
  for (let i = 0, filters = 1; i < pixels.length; filters++) {
    const end = i + width;
    while (i < end) {
      const color = pixels[i] ?? 0;
      const key = color & mask;
      let entry = entries.get(key);
      if (entry === undefined) {
        if (palette.length === COLORS_MAX) return null;
        entry = palette.push(color) - 1;
        entries.set(key, entry);
      }
      // Most pixels repeat the previous one.
      do rows[filters + i++] = entry;
      while (i < end && pixels[i] === color);
    }
  }
  return { palette, rows };
}

function tooManyColors(): never {
  throw new TypeError('a picture of flat colours was expected');
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
