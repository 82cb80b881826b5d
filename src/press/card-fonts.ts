import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import opentype from 'opentype.js';
import type { Font } from 'satori';

/** A typeface of the cards: one weight of one @fontsource package, which comes cut into subsets. */
interface Face {
  package: string;
  weight: 400 | 600 | 700;
}

const SERIF: Face = { package: 'source-serif-4', weight: 700 };
const SANS: Face = { package: 'libre-franklin', weight: 600 };
const JAPANESE: Face = { package: 'zen-antique', weight: 400 };
const CHINESE: Face = { package: 'zcool-xiaowei', weight: 400 };
const KOREAN: Face = { package: 'song-myung', weight: 400 };

export type Voice = 'serif' | 'sans';

/** One subset file. It is read when a text first needs a character that it declares. */
interface Subset {
  family: string;
  weight: Face['weight'];
  ranges: readonly (readonly [number, number])[];
  file: string;
}

/** A subset that was read. */
interface Cut {
  family: string;
  weight: Face['weight'];
  data: Buffer;
  /** Advance widths in ems by code point; what is not in here has no glyph. */
  advances: ReadonlyMap<number, number>;
}

const require = createRequire(import.meta.url);
const subsetsByFace = new Map<Face, readonly Subset[]>();
const cuts = new Map<string, Cut>();

function subsetsOf(face: Face): readonly Subset[] {
  const known = subsetsByFace.get(face);
  if (known) return known;
  const declared: Record<string, string> = require(`@fontsource/${face.package}/unicode.json`);
  const subsets = Object.entries(declared)
    .map(([name, ranges]) => ({ name: name.replace(/[[\]]/g, ''), ranges }))
    // Latin first: it holds nearly everything that most cards say.
    .sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name, 'en', { numeric: true }))
    .map(({ name, ranges }) => ({
      family: `${face.package} ${face.weight} ${name}`,
      weight: face.weight,
      ranges: ranges.split(',').map(parseRange),
      file: `@fontsource/${face.package}/files/${face.package}-${name}-${face.weight}-normal.woff`,
    }));
  subsetsByFace.set(face, subsets);
  return subsets;
}

function rank(subset: string): number {
  return ['latin', 'latin-ext'].indexOf(subset) >>> 0;
}

function parseRange(range: string): [number, number] {
  const [from = '', to = from] = range.trim().slice(2).split('-');
  return [Number.parseInt(from, 16), Number.parseInt(to, 16)];
}

function read(subset: Subset): Cut {
  const known = cuts.get(subset.family);
  if (known) return known;
  const data = readFileSync(require.resolve(subset.file));
  const font = opentype.parse(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer);
  const advances = new Map<number, number>();
  const glyphs: Record<string, number> = font.tables['cmap'].glyphIndexMap;
  for (const [code, index] of Object.entries(glyphs)) {
    if (index !== 0) advances.set(Number(code), (font.glyphs.get(index).advanceWidth ?? 0) / font.unitsPerEm);
  }
  const cut = { family: subset.family, weight: subset.weight, data, advances };
  cuts.set(subset.family, cut);
  return cut;
}

/** The faces that a text in this language is set in, first choice first. */
function facesFor(voice: Voice, text: string, language: string): readonly Face[] {
  const latin = voice === 'serif' ? [SERIF] : [SANS, SERIF];
  if (/\p{Script=Hangul}/u.test(text)) return [...latin, KOREAN, JAPANESE, CHINESE];
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return [...latin, JAPANESE, CHINESE, KOREAN];
  const primary = language.toLowerCase().split('-')[0];
  if (primary === 'zh') return [...latin, CHINESE, JAPANESE, KOREAN];
  if (primary === 'ko') return [...latin, KOREAN, JAPANESE, CHINESE];
  return [...latin, JAPANESE, CHINESE, KOREAN];
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** A text with the fonts that draw all of it. */
export interface SetText {
  text: string;
  /** Names of the fonts, in the order in which they are asked for a glyph. */
  family: string[];
  fonts: Font[];
  /** Graphemes that no font here can draw. */
  uncovered: string[];
  /** Width in ems of a part of the text. */
  width(part: string): number;
}

/** Finds the fonts for a text. Only the subset files that the text needs are read, once each. */
export function setText(raw: string, voice: Voice, language: string): SetText {
  const text = plain(raw);
  const faces = facesFor(voice, text, language);
  const order = faces.flatMap(subsetsOf);
  const chosen = new Set<string>();
  for (const char of new Set(text)) {
    const code = char.codePointAt(0) as number;
    const found = order.find(
      (subset) => subset.ranges.some(([from, to]) => code >= from && code <= to) && read(subset).advances.has(code),
    );
    if (found) chosen.add(found.family);
  }
  const used = order.filter((subset) => chosen.has(subset.family)).map(read);
  const missing = new Set<string>();
  for (const { segment } of graphemes.segment(text)) {
    if (!isDrawn(segment, used)) missing.add(segment);
  }
  const widths = new Map<string, number>();
  return {
    text,
    family: used.map((cut) => cut.family),
    fonts: used.map(({ family, data, weight }) => ({ name: family, data, weight, style: 'normal' })),
    uncovered: [...missing],
    width: (part) => {
      let sum = 0;
      for (const char of part) {
        let width = widths.get(char);
        if (width === undefined) {
          const code = char.codePointAt(0) as number;
          width = used.find((cut) => cut.advances.has(code))?.advances.get(code) ?? 0;
          widths.set(char, width);
        }
        sum += width;
      }
      return sum;
    },
  };
}

/**
 * Satori picks the font of a grapheme by its first code point, and remembers
 * the pick by its first UTF-16 unit: a mark must be in its base's font, and
 * what lies beyond the first plane cannot be relied on.
 */
function isDrawn(grapheme: string, used: readonly Cut[]): boolean {
  const codes = [...grapheme].map((char) => char.codePointAt(0) as number);
  const first = codes[0] as number;
  if (first > 0xffff) return false;
  const cut = used.find(({ advances }) => advances.has(first));
  return cut !== undefined && codes.every((code) => cut.advances.has(code));
}

/** Emoji, invisible characters and runs of white space have no place on a card. */
function plain(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic}|[\ufe0f\u{1f3fb}-\u{1f3ff}])*/gu, (match) =>
      /^[©®™‼⁉↔-↩]/u.test(match) ? match[0] as string : ' ',
    )
    .replace(/[\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]|[\ufe00-\ufe0f\u20e3]|\p{Cc}|(?![\u200c\u200d])\p{Cf}/gu, (match) =>
      /\p{Cc}/u.test(match) ? ' ' : '',
    )
    .replace(/\s+/gu, ' ')
    .trim();
}
