import { present } from '../../proof/narrow.ts';
import { type Tables, tableOf } from './sfnt.ts';

/** A glyph of a font, without its hints. */
export interface Glyph {
  /** Its entry in `glyf`; empty for a blank glyph. */
  outline: Buffer;
  /** The advance width, and the left side bearing, in font units. */
  advance: number;
  bearing: number;
  /** The components of a composite glyph, and the offset in `outline` of each one's glyph number. */
  parts: readonly { at: number; glyph: Glyph }[];
}

/** Code points that one glyph draws. */
export interface Span {
  first: number;
  last: number;
  glyph: Glyph;
}

/** Flags of the components of a composite glyph (OpenType, `glyf`). */
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
    if (outline.length === 0) return { outline, advance, bearing, parts: [] };
    const contours = outline.readInt16BE(0);
    if (contours >= 0) return { outline: withoutInstructions(outline, contours), advance, bearing, parts: [] };
    const parts: { at: number; glyph: Glyph }[] = [];
    let at = 10;
    for (let flags = MORE; (flags & MORE) !== 0; ) {
      flags = outline.readUInt16BE(at);
      outline.writeUInt16BE(flags & ~INSTRUCTIONS, at);
      parts.push({ at: at + 2, glyph: this.#read(outline.readUInt16BE(at + 2)) });
      at += 4 + (flags & WORDS ? 4 : 2) + (flags & SCALE ? 2 : flags & TWO_SCALES ? 4 : flags & FOUR_SCALES ? 8 : 0);
    }
    return { outline: outline.subarray(0, at), advance, bearing, parts };
  }
}

function withoutInstructions(outline: Buffer, contours: number): Buffer {
  const at = 10 + contours * 2;
  const length = outline.readUInt16BE(at);
  return length === 0
    ? outline
    : Buffer.concat([outline.subarray(0, at), Buffer.alloc(2), outline.subarray(at + 2 + length)]);
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
 * A font of these glyphs, each for the code points from `first` to `last`. `tables` are those of a font with the same
 * metrics; its own glyphs are left out.
 */
export function fontOf(tables: Tables, notDefined: Glyph, spans: readonly Span[]): Tables {
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

  const outlines = glyphs.map(({ outline, parts }) => {
    const copy = Buffer.alloc((outline.length + 3) & ~3);
    copy.set(outline);
    for (const { at, glyph } of parts) copy.writeUInt16BE(present(numbers.get(glyph)), at);
    return copy;
  });
  const loca = Buffer.alloc((glyphs.length + 1) * 4);
  const hmtx = Buffer.alloc(glyphs.length * 4);
  let end = 0;
  for (const [index, { advance, bearing }] of glyphs.entries()) {
    hmtx.writeUInt16BE(advance, index * 4);
    hmtx.writeInt16BE(bearing, index * 4 + 2);
    end += present(outlines[index]).length;
    loca.writeUInt32BE(end, (index + 1) * 4);
  }
  const [head, hhea, maxp] = ['head', 'hhea', 'maxp'].map((tag) => Buffer.from(tableOf(tables, tag))) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  head.writeUInt32BE(0, 8);
  head.writeInt16BE(1, 50);
  hhea.writeUInt16BE(glyphs.length, 34);
  maxp.writeUInt16BE(glyphs.length, 4);
  const post = Buffer.alloc(32);
  post.writeUInt32BE(0x00030000, 0);
  return new Map([
    ...(['OS/2', 'name'] as const).map((tag) => [tag, tableOf(tables, tag)] as const),
    ['cmap', cmapOf(sorted.map(({ first, last, glyph }) => [first, last, present(numbers.get(glyph))]))],
    ['glyf', Buffer.concat(outlines)],
    ['head', head],
    ['hhea', hhea],
    ['hmtx', hmtx],
    ['loca', loca],
    ['maxp', maxp],
    ['post', post],
  ]);
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
