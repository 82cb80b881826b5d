import { promisify } from 'node:util';
import { brotliCompress, constants, inflateSync } from 'node:zlib';
import { present } from '../../proof/narrow.ts';

/** The tables of a TrueType font, by their tags. */
export type Tables = ReadonlyMap<string, Buffer>;

const compress = promisify(brotliCompress);

const WOFF = 0x774f4646;
const TRUE_TYPE = 0x00010000;

/** Reads a TrueType font, or one that is packed as WOFF 1.0 (W3C, "WOFF File Format 1.0", section 5). */
export function tablesOf(font: Buffer): Tables {
  const isWoff = font.readUInt32BE(0) === WOFF;
  const count = font.readUInt16BE(isWoff ? 12 : 4);
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const entry = isWoff ? 44 + index * 20 : 12 + index * 16;
      const tag = font.toString('latin1', entry, entry + 4);
      if (!isWoff) {
        const start = font.readUInt32BE(entry + 8);
        return [tag, font.subarray(start, start + font.readUInt32BE(entry + 12))];
      }
      const start = font.readUInt32BE(entry + 4);
      const [packed, whole] = [font.readUInt32BE(entry + 8), font.readUInt32BE(entry + 12)];
      const bytes = font.subarray(start, start + packed);
      return [tag, packed === whole ? bytes : inflateSync(bytes)];
    }),
  );
}

/** The font of these tables. Its checksums stay zero, because nothing here checks them. */
export function sfntOf(tables: Tables): Buffer {
  const sorted = [...tables].sort(([a], [b]) => (a < b ? -1 : 1));
  const header = Buffer.alloc(12 + sorted.length * 16);
  header.writeUInt32BE(TRUE_TYPE, 0);
  header.writeUInt16BE(sorted.length, 4);
  let end = header.length;
  const data = sorted.map(([tag, bytes], index) => {
    const entry = 12 + index * 16;
    header.write(tag, entry, 'latin1');
    header.writeUInt32BE(end, entry + 8);
    header.writeUInt32BE(bytes.length, entry + 12);
    end += padded(bytes.length);
    return Buffer.concat([bytes], padded(bytes.length));
  });
  return Buffer.concat([header, ...data]);
}

/** Tags that WOFF 2.0 writes as one number (section 4.1). */
const KNOWN =
  'cmap,head,hhea,hmtx,maxp,name,OS/2,post,cvt ,fpgm,glyf,loca,prep,CFF ,VORG,EBDT,EBLC,gasp,hdmx,kern,LTSH,PCLT,VDMX,vhea,vmtx,BASE,GDEF,GPOS,GSUB'.split(
    ',',
  );
const ANOTHER_TAG = 63;
/** The glyphs of a font, transformed (section 5.1); `length` is that of the `glyf` that they become. */
interface PackedGlyphs {
  parts: readonly Buffer[];
  length: number;
  count: number;
}

/** Packs a font as WOFF 2.0. A higher quality saves a tenth of the bytes, and takes five times as long for each page. */
export async function woff2Of(tables: Tables, glyphs: PackedGlyphs): Promise<Buffer> {
  // `loca` comes directly after `glyf`, and follows from it.
  const entries: { tag: string; length: number; parts: readonly Buffer[]; isTransformed?: true }[] = [
    { tag: 'glyf', length: glyphs.length, parts: glyphs.parts, isTransformed: true },
    { tag: 'loca', length: (glyphs.count + 1) * 4, parts: [], isTransformed: true },
    ...[...tables].map(([tag, bytes]) => ({ tag, length: bytes.length, parts: [bytes] })),
  ];
  const directory = entries.map(({ tag, length, parts, isTransformed }) => {
    const known = KNOWN.indexOf(tag);
    const name = known < 0 ? [ANOTHER_TAG, ...Buffer.from(tag, 'latin1')] : [known];
    return Buffer.from([...name, ...base128(length), ...(isTransformed ? base128(lengthOf(parts)) : [])]);
  });
  const data = Buffer.concat(entries.flatMap(({ parts }) => parts));
  const packed = await compress(data, {
    chunkSize: data.length,
    params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: data.length },
  });
  const header = Buffer.alloc(48);
  const whole = entries.reduce((sum, { length }) => sum + 16 + padded(length), 12);
  const length = padded(header.length + lengthOf(directory) + packed.length);
  header.write('wOF2', 'latin1');
  header.writeUInt32BE(TRUE_TYPE, 4);
  header.writeUInt32BE(length, 8);
  header.writeUInt16BE(entries.length, 12);
  header.writeUInt32BE(whole, 16);
  header.writeUInt32BE(packed.length, 20);
  return Buffer.concat([header, ...directory, packed], length);
}

export const lengthOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);

export const padded = (length: number): number => (length + 3) & ~3;

/** UIntBase128 of WOFF 2.0 (section 4.1): seven bits a byte, the highest first. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}

export const tableOf = (tables: Tables, tag: string): Buffer => present(tables.get(tag));
