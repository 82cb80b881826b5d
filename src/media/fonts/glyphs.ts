import { present } from '../../proof/narrow.ts';
import { type PackedGlyphs, padded, type Tables, tableOf, woff2Of } from './sfnt.ts';

/** A glyph of a font, without its hints, as what it adds to each stream of WOFF 2.0 (section 5.1). */
export interface Glyph {
  /** The number of contours: 0 for a blank glyph, -1 for a composite one. */
  contours: number;
  /** The number of points of each contour; then of each point a flag and the offset from the last one. */
  counts: Buffer;
  flags: Buffer;
  offsets: Buffer;
  /** The bounding box; empty where the points give it. */
  box: Buffer;
  composite: Buffer;
  /** The components of a composite glyph, and the offset in `composite` of each one's glyph number. */
  parts: readonly { at: number; glyph: Glyph }[];
  /** The length of its entry in `glyf`, in bytes. */
  length: number;
  /** The advance width, and the left side bearing, in font units. */
  advance: number;
  bearing: number;
}

const NONE = Buffer.alloc(0);

/** A glyph that draws nothing. */
export const blankOf = (advance: number): Glyph => ({
  ...{ contours: 0, counts: NONE, flags: NONE, offsets: NONE, box: NONE, composite: NONE, parts: [], length: 0 },
  ...{ advance, bearing: 0 },
});

/** Code points that one glyph draws. */
export interface Span {
  first: number;
  last: number;
  glyph: Glyph;
}

/** Flags of the points of a glyph (OpenType, `glyf`). */
const ON_CURVE = 0x1;
const [SHORT_X, SHORT_Y] = [0x2, 0x4];
const REPEATED = 0x8;
/** A short offset is positive; a long one is zero. */
const [SAME_X, SAME_Y] = [0x10, 0x20];

/** Flags of the components of a composite glyph. */
const WORDS = 0x1;
const SCALE = 0x8;
const MORE = 0x20;
const TWO_SCALES = 0x40;
const FOUR_SCALES = 0x80;
const INSTRUCTIONS = 0x100;

/** Reads the glyphs of a TrueType font by code point. */
export class GlyphReader {
  readonly #glyf: Buffer;
  readonly #starts: (glyph: number) => number;
  readonly #metrics: Buffer;
  readonly #metricCount: number;
  readonly #byCode: ReadonlyMap<number, number>;

  constructor(tables: Tables) {
    this.#glyf = tableOf(tables, 'glyf');
    const loca = tableOf(tables, 'loca');
    const isLong = tableOf(tables, 'head').readInt16BE(50) === 1;
    this.#starts = isLong ? (glyph) => loca.readUInt32BE(glyph * 4) : (glyph) => loca.readUInt16BE(glyph * 2) * 2;
    this.#metrics = tableOf(tables, 'hmtx');
    this.#metricCount = tableOf(tables, 'hhea').readUInt16BE(34);
    this.#byCode = glyphsByCode(tableOf(tables, 'cmap'));
  }

  /** The glyph of a code point; null without one. */
  find(code: number): Glyph | null {
    const index = this.#byCode.get(code);
    return index === undefined || index === 0 ? null : this.#read(index);
  }

  /** The glyph that a font draws for a missing character (`.notdef`). */
  notDefined(): Glyph {
    return this.#read(0);
  }

  #read(index: number): Glyph {
    const last = this.#metricCount - 1;
    const advance = this.#metrics.readUInt16BE(Math.min(index, last) * 4);
    const bearing = this.#metrics.readInt16BE(index <= last ? index * 4 + 2 : (last + 1) * 4 + (index - last - 1) * 2);
    const outline = Buffer.from(this.#glyf.subarray(this.#starts(index), this.#starts(index + 1)));
    const blank = { ...blankOf(advance), bearing };
    const contours = outline.length === 0 ? 0 : outline.readInt16BE(0);
    if (contours === 0) return blank;
    if (contours > 0) return { ...blank, ...outlined(outline) };
    const parts: { at: number; glyph: Glyph }[] = [];
    let at = 10;
    for (let flags = MORE; (flags & MORE) !== 0; ) {
      flags = outline.readUInt16BE(at);
      outline.writeUInt16BE(flags & ~INSTRUCTIONS, at);
      parts.push({ at: at - 8, glyph: this.#read(outline.readUInt16BE(at + 2)) });
      at += 4 + (flags & WORDS ? 4 : 2) + (flags & SCALE ? 2 : flags & TWO_SCALES ? 4 : flags & FOUR_SCALES ? 8 : 0);
    }
    return { ...blank, contours, box: outline.subarray(2, 10), composite: outline.subarray(10, at), parts, length: at };
  }
}

/** The streams of an outline of points: a simple entry of `glyf`. */
export function outlined(outline: Buffer): Omit<Glyph, 'composite' | 'parts' | 'advance' | 'bearing'> {
  const contours = outline.readInt16BE(0);
  const counts: number[] = [];
  let count = 0;
  for (let contour = 0; contour < contours; contour++) {
    const end = outline.readUInt16BE(10 + contour * 2) + 1;
    counts.push(...short255(end - count));
    count = end;
  }
  const instructions = 10 + contours * 2;
  let at = instructions + 2 + outline.readUInt16BE(instructions);
  const length = outline.length - outline.readUInt16BE(instructions);
  const kinds = new Uint8Array(count);
  for (let point = 0; point < count; ) {
    const kind = outline.readUInt8(at++);
    const times = kind & REPEATED ? outline.readUInt8(at++) + 1 : 1;
    kinds.fill(kind, point, point + times);
    point += times;
  }
  const steps = (short: number, same: number): Int16Array => {
    const found = new Int16Array(count);
    for (let point = 0; point < count; point++) {
      const kind = kinds[point] ?? 0;
      if (kind & short) {
        const length = outline[at++] ?? 0;
        found[point] = kind & same ? length : -length;
      } else if (!(kind & same)) {
        found[point] = outline.readInt16BE(at);
        at += 2;
      }
    }
    return found;
  };
  const [across, up] = [steps(SHORT_X, SAME_X), steps(SHORT_Y, SAME_Y)];
  const flags = Buffer.alloc(count);
  const offsets: number[] = [];
  for (let point = 0; point < count; point++) {
    const step = writeStep(across[point] ?? 0, up[point] ?? 0, offsets);
    flags[point] = ((kinds[point] ?? 0) & ON_CURVE ? 0 : 0x80) + step;
  }
  // No instructions follow.
  offsets.push(0);
  const [x, y] = [extentOf(across), extentOf(up)];
  const box = Buffer.alloc(8);
  for (const [n, value] of [x.least, y.least, x.most, y.most].entries()) box.writeInt16BE(value, n * 2);
  const isBox = box.equals(outline.subarray(2, 10));
  return {
    ...{ contours, counts: Buffer.from(counts), flags, offsets: Buffer.from(offsets), length },
    box: isBox ? NONE : outline.subarray(2, 10),
  };
}

/** The range of a coordinate, of points given as steps from one to the next. */
function extentOf(steps: Int16Array): { least: number; most: number } {
  let [place, least, most] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const step of steps) {
    place += step;
    least = Math.min(least, place);
    most = Math.max(most, place);
  }
  return { least, most };
}

/** 255UInt16 of WOFF 2.0 (section 4.3). */
const short255 = (value: number): number[] => (value < 253 ? [value] : [253, value >> 8, value & 0xff]);

/** Adds the bytes of a step from one point to the next, and returns the flag that tells their form (section 5.2). */
function writeStep(dx: number, dy: number, bytes: number[]): number {
  const x = Math.abs(dx);
  const y = Math.abs(dy);
  const right = dx < 0 ? 0 : 1;
  const above = dy < 0 ? 0 : 1;
  const signs = right + 2 * above;
  if (dx === 0 && y < 1280) {
    bytes.push(y & 0xff);
    return ((y & 0xf00) >> 7) + above;
  }
  if (dy === 0 && x < 1280) {
    bytes.push(x & 0xff);
    return 10 + ((x & 0xf00) >> 7) + right;
  }
  if (x <= 64 && y <= 64) {
    bytes.push((((x - 1) & 0xf) << 4) | ((y - 1) & 0xf));
    return 20 + ((x - 1) & 0x30) + (((y - 1) & 0x30) >> 2) + signs;
  }
  if (x <= 768 && y <= 768) {
    bytes.push((x - 1) & 0xff, (y - 1) & 0xff);
    return 84 + 12 * (((x - 1) & 0x300) >> 8) + (((y - 1) & 0x300) >> 6) + signs;
  }
  if (x < 4096 && y < 4096) {
    bytes.push(x >> 4, ((x & 0xf) << 4) | (y >> 8), y & 0xff);
    return 120 + signs;
  }
  bytes.push(x >> 8, x & 0xff, y >> 8, y & 0xff);
  return 124 + signs;
}

/** Reads formats 4, 12 and 13 of a `cmap`. */
function glyphsByCode(cmap: Buffer): Map<number, number> {
  const found = new Map<number, number>();
  for (let entry = 4; entry < 4 + cmap.readUInt16BE(2) * 8; entry += 8) {
    const table = cmap.subarray(cmap.readUInt32BE(entry + 4));
    const format = table.readUInt16BE(0);
    if (format === 12 || format === 13) {
      for (let at = 16; at < 16 + table.readUInt32BE(12) * 12; at += 12) {
        const [first, last, glyph] = [table.readUInt32BE(at), table.readUInt32BE(at + 4), table.readUInt32BE(at + 8)];
        for (let code = first; code <= last; code++) found.set(code, format === 12 ? glyph + code - first : glyph);
      }
    } else if (format === 4) {
      const size = table.readUInt16BE(6);
      for (let at = 14; at < 14 + size; at += 2) {
        const [last, first] = [table.readUInt16BE(at), table.readUInt16BE(at + size + 2)];
        const delta = table.readUInt16BE(at + size * 2 + 2);
        const place = at + size * 3 + 2;
        const range = table.readUInt16BE(place);
        for (let code = first; code <= last && code < 0xffff; code++) {
          const direct = range === 0 ? code : table.readUInt16BE(place + range + (code - first) * 2);
          if (direct !== 0) found.set(code, (direct + delta) & 0xffff);
        }
      }
    }
  }
  return found;
}

/**
 * A font of these glyphs, packed as WOFF 2.0, each for the code points from `first` to `last`. `tables` are those of a
 * font with the same metrics; its own glyphs are left out.
 */
export function fontOf(tables: Tables, notDefined: Glyph, spans: readonly Span[]): Buffer {
  const numbers = new Map<Glyph, number>();
  const glyphs: Glyph[] = [];
  const add = (glyph: Glyph): void => {
    if (numbers.has(glyph)) return;
    numbers.set(glyph, glyphs.length);
    glyphs.push(glyph);
    for (const { glyph: part } of glyph.parts) add(part);
  };
  add(notDefined);
  const sorted = spans.toSorted((a, b) => a.first - b.first);
  for (const { glyph } of sorted) add(glyph);

  const hmtx = Buffer.alloc(glyphs.length * 4);
  for (const [index, { advance, bearing }] of glyphs.entries()) {
    hmtx.writeUInt16BE(advance, index * 4);
    hmtx.writeInt16BE(bearing, index * 4 + 2);
  }
  const [head, hhea, maxp] = ['head', 'hhea', 'maxp'].map((tag) => Buffer.from(tableOf(tables, tag))) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  head.writeUInt32BE(0, 8);
  // What is unpacked has other bytes (WOFF 2.0, section 5).
  head.writeUInt16BE(head.readUInt16BE(16) | 0x800, 16);
  head.writeInt16BE(1, 50);
  hhea.writeUInt16BE(glyphs.length, 34);
  maxp.writeUInt16BE(glyphs.length, 4);
  const post = Buffer.alloc(32);
  post.writeUInt32BE(0x00030000, 0);
  const rest: Tables = new Map([
    ...(['OS/2', 'name'] as const).map((tag) => [tag, tableOf(tables, tag)] as const),
    ['cmap', cmapOf(sorted.map(({ first, last, glyph }) => [first, last, present(numbers.get(glyph))]))],
    ['head', head],
    ['hhea', hhea],
    ['hmtx', hmtx],
    ['maxp', maxp],
    ['post', post],
  ]);
  return woff2Of(rest, {
    ...packedGlyphs(glyphs, numbers),
    length: glyphs.reduce((sum, { length }) => sum + padded(length), 0),
    count: glyphs.length,
  });
}

/** The transformed `glyf` of these glyphs (WOFF 2.0, section 5.1): its size in bytes, and a function that writes it. */
function packedGlyphs(
  glyphs: readonly Glyph[],
  numbers: ReadonlyMap<Glyph, number>,
): Pick<PackedGlyphs, 'size' | 'write'> {
  const lengths = { contours: glyphs.length * 2, counts: 0, flags: 0, offsets: 0, composite: 0, box: 0 };
  const boxed = ((glyphs.length + 31) >> 5) * 4;
  for (const glyph of glyphs) {
    lengths.counts += glyph.counts.length;
    lengths.flags += glyph.flags.length;
    lengths.offsets += glyph.offsets.length;
    lengths.composite += glyph.composite.length;
    lengths.box += glyph.box.length;
  }
  // The last stream is for instructions.
  const sizes = [...Object.values({ ...lengths, box: boxed + lengths.box }), 0];
  const header = 8 + sizes.length * 4;
  const write = (packed: Buffer): void => {
    packed.fill(0, 0, header);
    packed.writeUInt16BE(glyphs.length, 4);
    packed.writeUInt16BE(1, 6);
    for (const [n, size] of sizes.entries()) packed.writeUInt32BE(size, 8 + n * 4);
    let contours = header;
    let counts = contours + lengths.contours;
    let flags = counts + lengths.counts;
    let offsets = flags + lengths.flags;
    let composite = offsets + lengths.offsets;
    const isBoxed = composite + lengths.composite;
    let box = isBoxed + boxed;
    packed.fill(0, isBoxed, box);
    for (const [index, glyph] of glyphs.entries()) {
      contours = packed.writeInt16BE(glyph.contours, contours);
      packed.set(glyph.counts, counts);
      counts += glyph.counts.length;
      packed.set(glyph.flags, flags);
      flags += glyph.flags.length;
      packed.set(glyph.offsets, offsets);
      offsets += glyph.offsets.length;
      packed.set(glyph.composite, composite);
      for (const part of glyph.parts) packed.writeUInt16BE(present(numbers.get(part.glyph)), composite + part.at);
      composite += glyph.composite.length;
      if (glyph.box.length === 0) continue;
      const byte = isBoxed + (index >> 3);
      packed[byte] = (packed[byte] ?? 0) | (0x80 >> (index & 7));
      packed.set(glyph.box, box);
      box += glyph.box.length;
    }
  };
  return { size: sizes.reduce((sum, size) => sum + size, header), write };
}

/** A `cmap` of format 13 for Unicode (platform 3, encoding 10): each group of code points has one glyph. */
function cmapOf(groups: readonly (readonly [first: number, last: number, glyph: number])[]): Buffer {
  const cmap = Buffer.alloc(12 + 16 + groups.length * 12);
  cmap.writeUInt16BE(1, 2);
  cmap.writeUInt16BE(3, 4);
  cmap.writeUInt16BE(10, 6);
  cmap.writeUInt32BE(12, 8);
  cmap.writeUInt16BE(13, 12);
  cmap.writeUInt32BE(16 + groups.length * 12, 16);
  cmap.writeUInt32BE(groups.length, 24);
  for (const [index, group] of groups.entries())
    for (const [n, value] of group.entries()) cmap.writeUInt32BE(value, 28 + index * 12 + n * 4);
  return cmap;
}
