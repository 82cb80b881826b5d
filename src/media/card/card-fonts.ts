import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import opentype from 'opentype.js';
import type { Font } from 'satori';
import { present } from '../../proof/narrow.ts';

/** A typeface of the cards: one weight of one @fontsource package, which ships as subset files. */
export interface Face {
  package: string;
  weight: 400 | 600 | 700;
  /** A variable font, as WOFF2 only. satori emboldens its lightest master; its coverage comes from its CSS. */
  variable?: true;
}

const SERIF: Face = { package: '@fontsource/source-serif-4', weight: 700 };
const SANS: Face = { package: '@fontsource/libre-franklin', weight: 600 };
const JAPANESE: Face = { package: '@fontsource/biz-udmincho', weight: 700 };
const KOREAN: Face = { package: '@fontsource/song-myung', weight: 400 };
const ARABIC: Face = { package: '@fontsource/amiri', weight: 700 };
const HEBREW: Face = { package: '@fontsource/frank-ruhl-libre', weight: 700 };
const DEVANAGARI: Face = { package: '@fontsource/noto-serif-devanagari', weight: 700 };
// The static Chinese packages with a text face ship every weight: 60 to 80 MB instead of 7 MB.
const CHINESE: Face = { package: '@fontsource-variable/noto-serif-sc', weight: 400, variable: true };

type Voice = 'serif' | 'sans';

/** One subset file. It is loaded when a text first needs a character that it declares. */
export interface Subset {
  family: string;
  face: Face;
  ranges: readonly (readonly [number, number])[];
  file: string;
}

interface LoadedSubset {
  family: string;
  face: Face;
  data: Buffer;
  /** Advance widths in ems by code point. Code points that are absent have no glyph. */
  advances: ReadonlyMap<number, number>;
}

const require = createRequire(import.meta.url);
const subsetsByFace = new Map<Face, readonly Subset[]>();
const loaded = new Map<string, LoadedSubset>();

/** The subset files of a face, as its package declares them. */
export function subsetsOf(face: Face): readonly Subset[] {
  const cached = subsetsByFace.get(face);
  if (cached) return cached;
  const declared: Record<string, string> = require(`${face.package}/unicode.json`);
  const stem = `${face.package}/files/${face.package.split('/')[1]}`;
  const end = face.variable ? 'wght-normal.woff2' : `${face.weight}-normal.woff`;
  const subsets = Object.entries(declared)
    .map(([key, ranges]) => ({ name: key.replace(/[[\]]/g, ''), ranges: ranges.split(',').map(parseRange) }))
    // Latin first: it covers nearly all of most cards.
    .sort((a, b) => subsetOrder(a.name) - subsetOrder(b.name) || a.name.localeCompare(b.name, 'en', { numeric: true }))
    .map(({ name, ranges }) => ({ family: `${face.package} ${name}`, face, ranges, file: `${stem}-${name}-${end}` }));
  subsetsByFace.set(face, subsets);
  return subsets;
}

function subsetOrder(subset: string): number {
  return ['latin', 'latin-ext'].indexOf(subset) >>> 0;
}

function parseRange(range: string): [number, number] {
  const [from = '', to = from] = range.trim().slice('U+'.length).split('-');
  return [Number.parseInt(from, 16), Number.parseInt(to, 16)];
}

function load(subset: Subset): LoadedSubset {
  const cached = loaded.get(subset.family);
  if (cached) return cached;
  const data = readFileSync(require.resolve(subset.file));
  const advances = subset.face.variable ? declaredAdvances(subset) : readAdvances(data);
  const cut = { family: subset.family, face: subset.face, data, advances };
  loaded.set(subset.family, cut);
  return cut;
}

function readAdvances(data: Buffer): Map<number, number> {
  const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer;
  const font = opentype.parse(bytes);
  const glyphs: Record<string, number> = font.tables.cmap?.glyphIndexMap ?? {};
  return new Map(
    Object.entries(glyphs)
      .filter(([, index]) => index !== 0)
      .map(([code, index]) => [Number(code), (font.glyphs.get(index)?.advanceWidth ?? 0) / font.unitsPerEm]),
  );
}

/** Ideographs and full-width marks, each one em wide. The font has all it declares (share-card.test.ts). */
function declaredAdvances({ ranges }: Subset): Map<number, number> {
  const advances = new Map<number, number>();
  for (const [from, to] of ranges) {
    for (let code = from; code <= to; code++) {
      if (FULL_WIDTH.test(String.fromCodePoint(code))) advances.set(code, 1);
    }
  }
  return advances;
}

const FULL_WIDTH = /[\u4e00-\u9fff、。〈-】！（），：；？]/u;

/** The faces for a text, in fallback order. */
export function facesFor(voice: Voice, text: string, language: string): readonly Face[] {
  const first = [...(voice === 'serif' ? [SERIF] : [SANS, SERIF]), ARABIC, HEBREW, DEVANAGARI];
  // One word of another language, or a の on a sign, does not make a text Japanese or Korean.
  const primary = language.toLowerCase().split('-')[0] ?? '';
  if (primary === 'zh') return [...first, CHINESE, JAPANESE, KOREAN];
  if (primary === 'ko' || (primary !== 'ja' && /\p{Script=Hangul}/u.test(text)))
    return [...first, KOREAN, JAPANESE, CHINESE];
  return [...first, JAPANESE, CHINESE, KOREAN];
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** A text with the fonts that cover all of it. */
export interface TypesetText {
  text: string;
  /** Font names in fallback order. */
  family: string[];
  fonts: Font[];
  /** 700 for a font that must be emboldened. */
  weight: 400 | 700;
  /** Graphemes that none of these fonts covers. */
  missing: string[];
  /** Width of a part of the text, in ems. */
  width(part: string): number;
}

/** The first subset that has a character. The subsets of a face are read when no face before it has it. */
function subsetWith(code: number, faces: readonly Face[]): Subset | undefined {
  for (const face of faces) {
    const found = subsetsOf(face).find(
      (subset) => subset.ranges.some(([from, to]) => code >= from && code <= to) && load(subset).advances.has(code),
    );
    if (found) return found;
  }
  return undefined;
}

/** Chooses the fonts for a text. Loads only the subset files that it needs, each once. */
export function typeset(raw: string, voice: Voice, language: string): TypesetText {
  const text = plain(raw);
  const faces = facesFor(voice, text, language);
  const chosen = new Set<Subset>();
  for (const char of new Set(text)) {
    const found = subsetWith(present(char.codePointAt(0)), faces);
    if (found) chosen.add(found);
  }
  const used = faces
    .filter((face) => subsetsByFace.has(face))
    .flatMap((face) => subsetsOf(face).filter((subset) => chosen.has(subset)))
    .map(load);
  const missing = new Set<string>();
  for (const { segment } of graphemes.segment(text)) {
    if (!isDrawn(segment, used)) missing.add(segment);
  }
  const widthOf = (code: number) => used.find((cut) => cut.advances.has(code))?.advances.get(code) ?? 0;
  return {
    text,
    family: used.map((cut) => cut.family),
    fonts: used.map(({ family, face, data }) => ({ name: family, data, weight: face.weight, style: 'normal' })),
    weight: used.some(({ face }) => face.variable) ? 700 : 400,
    missing: [...missing],
    width: (part) => [...part].reduce((sum, char) => sum + widthOf(present(char.codePointAt(0))), 0),
  };
}

/** Satori takes a grapheme's font from its first code point, cached by UTF-16 unit: marks need the base's font. */
function isDrawn(grapheme: string, used: readonly LoadedSubset[]): boolean {
  const codes = [...grapheme].map((char) => present(char.codePointAt(0)));
  const first = present(codes[0]);
  if (first > 0xffff) return false;
  const cut = used.find(({ advances }) => advances.has(first));
  return cut !== undefined && codes.every((code) => cut.advances.has(code));
}

/** Removes emoji and invisible characters, and collapses white space. */
function plain(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic}|[\ufe0f\u{1f3fb}-\u{1f3ff}])*/gu, (match) =>
      /^[©®™‼⁉↔-↩]/u.test(match) ? (match[0] ?? '') : ' ',
    )
    .replace(
      /[\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]|[\ufe00-\ufe0f\u20e3]|\p{Cc}|(?![\u200c\u200d])\p{Cf}/gu,
      (match) => (/\p{Cc}/u.test(match) ? ' ' : ''),
    )
    .replace(/\s+/gu, ' ')
    .trim();
}
