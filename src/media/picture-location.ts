import { crc32, inflateSync } from 'node:zlib';
import { Fault } from '../shared/fault.ts';

/** The markers before EXIF data: in JPEG and AVIF, in WebP (with a length), and in PNG. */
const EXIF = [
  { signature: 'Exif\0\0', gap: 0 },
  { signature: 'EXIF', gap: 4 },
  { signature: 'eXIf', gap: 0 },
];
/** The first bytes of EXIF data, in both byte orders. In AVIF nothing else marks it (ISO/IEC 23008-12, A.2.1). */
const TIFF = ['II*\0', 'MM\0*'];
/**
 * The most work per file: directory entries that are read, and bytes that are cleared. Cameras write some hundreds of
 * entries.
 */
const WORK_MAX = 5_000_000;
const GPS_TAG = 0x8825;
/** The size of a value in bytes, by its EXIF type (TIFF 6.0, section 2). */
const SIZES = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];

/** The attributes and elements of XMP that say where a picture was taken. */
const XMP_GPS = /exif:GPS\w+\s*=\s*(?:"[^"]{0,200}"|'[^']{0,200}')|<(exif:GPS\w+)\b[^>]{0,200}>[^<]{0,200}<\/\1>/g;

const XMP_KEY = 'XML:com.adobe.xmp';
const XMP_MAX = 10_000_000;
/** How many texts of XMP a PNG may have. Its specification allows one. */
const XMPS_MAX = 10;

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** The keyword of PNG text in which ImageMagick stores EXIF data, in hexadecimal and compressed. */
const RAW_PROFILE = /^Raw profile type (?:exif|APP1)\0/i;

/**
 * A picture without the location where it was taken, and otherwise unchanged: pixels, profile, authorship. Overwrites
 * the GPS data of EXIF and XMP. Returns null when there is none. `bytes` is a whole file of any format.
 * Throws a `Fault` for a file crafted to take long.
 */
export function withoutLocation(bytes: Uint8Array): Uint8Array | null {
  const copy = Buffer.from(bytes);
  let isChanged = false;
  let left = WORK_MAX;
  const work = (amount: number): void => {
    left -= amount;
    if (left < 0)
      throw new Fault('invalid_request', 'the picture holds more EXIF data than a camera writes; export it again');
  };
  const isAvif = copy.toString('latin1', 4, 8) === 'ftyp';
  for (const { signature, gap } of isAvif
    ? [...EXIF, ...TIFF.map((signature) => ({ signature, gap: -signature.length }))]
    : EXIF) {
    for (let at = copy.indexOf(signature, 0, 'latin1'); at >= 0; at = copy.indexOf(signature, at + 1, 'latin1')) {
      let tiff = at + signature.length + gap;
      if (copy.toString('latin1', tiff, tiff + 6) === 'Exif\0\0') tiff += 6;
      if (clearGps(copy.subarray(tiff), work)) isChanged = true;
    }
  }
  if (copy.includes('exif:GPS', 0, 'latin1')) {
    const text = copy.toString('latin1');
    for (const { index, 0: found } of text.matchAll(XMP_GPS)) {
      copy.fill(' ', index, index + found.length);
      isChanged = true;
    }
  }
  if (!copy.subarray(0, PNG.length).equals(PNG)) return isChanged ? copy : null;
  return pngWithChecks(copy, isChanged);
}

/** Empties the GPS directory of EXIF data that begins at the start of `tiff`. Returns whether it had one. */
function clearGps(tiff: Buffer, work: (amount: number) => void): boolean {
  const order = tiff.toString('latin1', 0, 4);
  if (order !== 'II*\0' && order !== 'MM\0*') return false;
  const isLittle = order.startsWith('I');
  const short = (at: number): number => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const long = (at: number): number => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at));
  try {
    const first = long(4);
    for (let n = short(first), at = first + 2; n > 0; n--, at += 12) {
      work(1);
      if (short(at) !== GPS_TAG) continue;
      const gps = long(at + 8);
      const count = short(gps);
      if (count === 0) return false;
      for (let entry = gps + 2; entry < gps + 2 + count * 12; entry += 12) {
        const size = (SIZES[short(entry + 2)] ?? 1) * long(entry + 4);
        // A damaged entry may point past the end.
        const value = size > 4 ? tiff.subarray(long(entry + 8), long(entry + 8) + size).fill(0) : null;
        work(1 + (value?.length ?? 0));
      }
      tiff.subarray(gps, gps + 2 + count * 12).fill(0);
      return true;
    }
  } catch (error) {
    // RangeError: random bytes that look like EXIF data, or a damaged directory that no program can read.
    if (!(error instanceof RangeError)) throw error;
  }
  return false;
}

/** The content of an iTXt chunk to replace one whose compressed XMP has a location; null for any other chunk. */
function packedXmp(type: string, text: Buffer, count: () => void): Buffer | null {
  // PNG, third edition, sections 11.3.3.3 and 11.3.3.4: the keyword; in iTXt, whether the text is compressed; the
  // method; in iTXt, a language and a translated keyword.
  const key = `${XMP_KEY}\0${type === 'iTXt' ? '\x01' : ''}\0`;
  if (!/^[iz]TXt$/.test(type) || text.toString('latin1', 0, key.length) !== key) return null;
  const start = type === 'zTXt' ? key.length : text.indexOf(0, text.indexOf(0, key.length) + 1) + 1;
  count();
  let xmp: string;
  try {
    xmp = inflateSync(text.subarray(start), { maxOutputLength: XMP_MAX }).toString('latin1');
  } catch {
    // No program can read it.
    return null;
  }
  if (!xmp.includes('exif:GPS')) return null;
  const cleared = xmp.replace(XMP_GPS, (found) => ' '.repeat(found.length));
  return Buffer.from(`${XMP_KEY}\0\0\0\0\0${cleared}`, 'latin1');
}

function chunkOf(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  return chunk;
}

/** A PNG without EXIF data in hexadecimal, with the checksums of its chunks corrected. */
function pngWithChecks(png: Buffer, wasChanged: boolean): Uint8Array | null {
  const parts: Buffer[] = [png.subarray(0, PNG.length)];
  let isChanged = wasChanged;
  let at = PNG.length;
  let texts = 0;
  const count = (): void => {
    if (++texts > XMPS_MAX)
      throw new Fault('invalid_request', `the picture holds more than ${XMPS_MAX} texts of XMP; export it again`);
  };
  while (at + 12 <= png.length) {
    const end = at + 12 + png.readUInt32BE(at);
    if (end > png.length) break;
    const chunk = png.subarray(at, end);
    at = end;
    const type = chunk.toString('latin1', 4, 8);
    if (/^(?:tEXt|zTXt|iTXt)$/.test(type) && RAW_PROFILE.test(chunk.toString('latin1', 8, 48))) {
      isChanged = true;
      continue;
    }
    const xmp = packedXmp(type, chunk.subarray(8, -4), count);
    if (xmp !== null) {
      isChanged = true;
      parts.push(chunkOf('iTXt', xmp));
      continue;
    }
    if (/^(?:eXIf|iTXt|tEXt)$/.test(type)) chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
    parts.push(chunk);
  }
  return isChanged ? Buffer.concat([...parts, png.subarray(at)]) : null;
}
