import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compress, decompress } from 'woff2-encoder';
import { sha256 } from '../proof/basis.ts';
import { present } from '../proof/narrow.ts';
import { CJK_RANGE } from '../shared/script-letters.ts';
import { type Face, facesFor, type Subset, subsetsOf } from './card/card-fonts.ts';
import { blankOf, fontOf, type Glyph, GlyphReader, outlined, type Span } from './fonts/glyphs.ts';
import { sfntOf, type Tables, tablesOf } from './fonts/sfnt.ts';
import { subsetFont } from './fonts/subset.ts';

/** Increment when the same letters would give other bytes, so that the file gets a new name. */
const VERSION = 3;
/** The weight of ideographs. Browsers embolden it, because a second weight would double the size of a page. */
const WEIGHT = 400;
/** The family that reserves space for letters until their font is loaded; see `astro/font-faces.ts`, `tokens.css`. */
const ROOM = 'script-room';

const require = createRequire(import.meta.url);

/** A font file below `fonts/`, and its `@font-face` rule for a stylesheet at the paper's root. */
export interface ScriptFont {
  path: string;
  rule: string;
  bytes(): Promise<Uint8Array>;
}

/** A script with so few letters that one font serves all texts of a paper. */
interface Alphabet {
  family: string;
  /** The subset of the package with its letters. */
  subset: string;
  letters: RegExp;
  /** The common letters, for which space is reserved until the font is loaded, as a `unicode-range`. */
  everyday: string;
  weights: readonly number[];
  /** `size-adjust` beside Latin, in percent. */
  size: number;
  /** Whether the width of a letter depends on those beside it. */
  joins: boolean;
}

const ALPHABETS: readonly Alphabet[] = [
  {
    family: 'amiri',
    subset: 'arabic',
    letters: /[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff]/gu,
    everyday: 'U+60C,U+61B,U+61F,U+621-63A,U+641-652,U+660-66C,U+67E,U+686,U+698,U+6A9,U+6AF,U+6CC',
    weights: [400],
    // At the same size, its letters look smaller than Latin ones.
    size: 118,
    joins: true,
  },
  {
    family: 'frank-ruhl-libre',
    subset: 'hebrew',
    letters: /[\u0590-\u05ff\ufb1d-\ufb4f]/gu,
    everyday: 'U+5BE,U+5D0-5EA,U+5F3-5F4',
    weights: [400, 700],
    size: 100,
    joins: false,
  },
  {
    family: 'noto-serif-devanagari',
    subset: 'devanagari',
    letters: /[\u0900-\u097f]/gu,
    everyday:
      'U+901-903,U+905-90B,U+90D,U+90F-911,U+913-928,U+92A-930,U+932,U+935-939,U+93C-943,U+945,U+947-949,U+94B-94D,U+964,U+966-970',
    weights: [400],
    size: 100,
    joins: true,
  },
];

const CJK = new RegExp(
  `[${CJK_RANGE.replaceAll('U+', '')
    .split(',')
    .map((span) => span.replace(/[0-9A-F]+/g, '\\u{$&}'))
    .join('')}]`,
  'u',
);

/** OpenType features that join or combine letters; the others are ornaments. */
const JOINING =
  'abvf abvs akhn blwf blws calt ccmp cjct curs dist fina haln half init isol liga locl medi nukt pref pres pstf psts rkrf rlig rphf vatu'.split(
    ' ',
  );
/** Features that place marks, which take no space. */
const MARKS = ['abvm', 'blwm', 'mark', 'mkmk'];
/** Joiners, the circle for marks without a letter, and directional marks. */
const WITH_LETTERS = '\u200c\u200d\u200e\u200f\u25cc';

/** One font for each alphabet and weight, with those of these letters that belong to it. */
export function alphabetFonts(letters: string): ScriptFont[] {
  return ALPHABETS.flatMap((alphabet) => {
    const own = [...new Set(letters.match(alphabet.letters) ?? [])].sort().join('');
    if (own === '') return [];
    const name = `@fontsource/${alphabet.family}`;
    return alphabet.weights.map((weight) => {
      const path = `fonts/${alphabet.family}-${weight}-${idOf(name, own)}.woff2`;
      return {
        path,
        rule: ruleOf(alphabet.family, path, {
          weight: alphabet.weights.length > 1 ? weight : null,
          size: alphabet.size,
          range: rangeOf(own),
        }),
        bytes: async () =>
          compress(
            subsetFont(sfntOf(tablesIn(fileOf(alphabet, weight))), codesIn(own + WITH_LETTERS), {
              features: [...JOINING, ...MARKS],
            }),
          ),
      };
    });
  });
}

const fileOf = ({ family, subset }: Alphabet, weight: number): string =>
  `@fontsource/${family}/files/${family}-${subset}-${weight}-normal.woff`;

/**
 * The fonts of one page, with only its Chinese, Japanese and Korean letters: a text has hundreds of the thousands that
 * a font has. The language decides between fonts that share ideographs. `page` is the path of the page; pages do not
 * share these files. `late` are those of `letters` that only a script shows: they have a font of their own, which
 * browsers load with the first of them.
 */
export function pageFonts(page: string, letters: string, language: string, late = ''): ScriptFont[] {
  const isLate = new Set(late);
  const found = lettersIn(letters, language);
  // Of two rules for a letter the later one applies.
  return [false, true].flatMap((later) => {
    const byFace = Map.groupBy(
      found.filter(({ letter }) => isLate.has(letter) === later),
      ({ subset }) => subset.face,
    );
    return [...byFace].map(([face, some]) => {
      const family = familyOf(face);
      const own = some.map(({ letter }) => letter).join('');
      const path = `fonts/${family}-${idOf(face.package, `${page}\n${own}`)}.woff2`;
      const range = later ? rangeOf(own) : CJK_RANGE;
      return { path, rule: ruleOf(family, path, { weight: null, size: 100, range }), bytes: () => pageFont(some) };
    });
  });
}

/** A letter of a CJK font, and the subset that has it. */
interface Letter {
  letter: string;
  code: number;
  subset: Subset;
  /** Undefined until a font is made with it; null without an outline. */
  glyph?: Glyph | null;
}

/** The letters of CJK fonts that were looked up so far, by the order of fonts; null for a letter that none has. */
const known = new Map<string, Map<number, Letter | null>>();

/** Those of these letters that CJK fonts have, each once, by code point. */
function lettersIn(text: string, language: string): Letter[] {
  const faces = facesFor('serif', text, language).filter(isOfCjk);
  const order = faces.map(familyOf).join();
  const letters = known.get(order) ?? new Map<number, Letter | null>();
  known.set(order, letters);
  const found: Letter[] = [];
  let last = -1;
  for (const code of Uint32Array.from(text, codeOf).sort()) {
    if (code === last) continue;
    last = code;
    let one = letters.get(code);
    if (one === undefined) {
      const letter = String.fromCodePoint(code);
      const subset = CJK.test(letter) && faces.map((face) => subsetsByCode(face).get(code)).find(Boolean);
      one = subset ? { letter, code, subset } : null;
      letters.set(code, one);
    }
    if (one !== null) found.push(one);
  }
  return found;
}

async function pageFont(letters: readonly Letter[]): Promise<Buffer> {
  const spans: Span[] = [];
  for (const letter of letters) {
    if (letter.glyph === undefined) letter.glyph = (await loadedOf(letter.subset)).reader.find(letter.code);
    if (letter.glyph !== null) spans.push({ first: letter.code, last: letter.code, glyph: letter.glyph });
  }
  const { tables, notDefined } = await loadedOf(present(letters[0]).subset);
  return fontOf(tables, notDefined, spans);
}

interface LoadedFont {
  tables: Tables;
  reader: GlyphReader;
  notDefined: Glyph;
}

const loaded = new Map<Subset, Promise<LoadedFont>>();

function loadedOf(subset: Subset): Promise<LoadedFont> {
  const font = loaded.get(subset) ?? load(subset);
  loaded.set(subset, font);
  return font;
}

/**
 * Loads a font. HarfBuzz sets the weight of a variable font for all letters at once, so that its metrics never vary.
 */
async function load({ face, file, ranges }: Subset): Promise<LoadedFont> {
  const tables = face.variable
    ? tablesOf(
        subsetFont(Buffer.from(await decompress(readFileSync(require.resolve(file)))), codesOf(ranges), {
          features: [],
          weight: WEIGHT,
        }),
      )
    : tablesIn(file);
  const reader = new GlyphReader(tables);
  return { tables, reader, notDefined: reader.notDefined() };
}

/** The subset files that packages ship, sorted by path, for pages whose letters are not known in advance. */
export function scriptFonts(letters: string, language: string): ScriptFont[] {
  const subsets = new Set(lettersIn(letters, language).map(({ subset }) => subset));
  return [...subsets].flatMap(partOf).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Excludes the faces for Latin and for the alphabets. */
const isOfCjk = (face: Face): boolean =>
  ![...ALPHABETS.map(({ family }) => family), 'source-serif-4'].includes(familyOf(face));

const familyOf = (face: Face): string => face.package.slice(face.package.indexOf('/') + 1);

const byCode = new Map<Face, ReadonlyMap<number, Subset>>();

/**
 * The first subset of a face that declares each code point; cached, because a paper may have thousands of ideographs.
 */
function subsetsByCode(face: Face): ReadonlyMap<number, Subset> {
  const cached = byCode.get(face);
  if (cached) return cached;
  const found = new Map<number, Subset>();
  // Cards have bold letters.
  const text: Face = face.variable ? face : { ...face, weight: WEIGHT };
  for (const subset of subsetsOf(text).toReversed()) {
    for (const [from, to] of subset.ranges) for (let code = from; code <= to; code++) found.set(code, subset);
  }
  byCode.set(face, found);
  return found;
}

function partOf({ face, file, ranges }: Subset): ScriptFont[] {
  const source = file.replace(/woff2?$/, 'woff2');
  if (!existsSync(placeOf(source))) return [];
  const stem = source.slice(source.lastIndexOf('/') + 1, -'.woff2'.length);
  const path = `fonts/${stem}-${idOf(face.package, stem)}.woff2`;
  // Packages put ideographs and Latin letters, which the paper has other typefaces for, into one file.
  const range = spansOf(CJK_RANGE)
    .flatMap(([first, last]) =>
      ranges.flatMap(([from, to]) =>
        from <= last && to >= first ? [spanText(Math.max(from, first), Math.min(to, last))] : [],
      ),
    )
    .join();
  const rule = ruleOf(familyOf(face), path, { weight: face.variable ? '200 900' : null, size: 100, range });
  return [{ path, rule, bytes: async () => readFileSync(placeOf(source)) }];
}

/**
 * Fonts with blank glyphs that are as wide as the real ones: they reserve the space of letters until their font is
 * loaded, so that nothing moves then. They are the same for all pages. Only letters that join take a file, of 9 kB.
 */
export function roomFonts(letters: string): ScriptFont[] {
  return ALPHABETS.filter(({ joins, letters: own }) => joins && letters.match(own)).flatMap((alphabet) => {
    const { family, weights, size, everyday } = alphabet;
    return weights.map((weight) => {
      const path = `fonts/room-${family}-${weight}-${idOf(`@fontsource/${family}`, '')}.woff2`;
      const codes = codesOf(spansOf(everyday));
      const bytes = async () => {
        const font = sfntOf(tablesIn(fileOf(alphabet, weight)));
        const joined = subsetFont(font, [...codes, ...codesIn(WITH_LETTERS)], { features: JOINING });
        return compress(sfntOf(withoutInk(tablesOf(joined))));
      };
      const bold = weights.length > 1 ? weight : null;
      return { path, rule: roomRule(path, { weight: bold, size, range: everyday }), bytes };
    });
  });
}

/** A font with the same widths and features, whose glyphs are blank. */
function withoutInk(tables: Tables): Tables {
  const [head, maxp] = [present(tables.get('head')), present(tables.get('maxp'))];
  const loca = Buffer.alloc((maxp.readUInt16BE(4) + 1) * 4);
  const glyf = Buffer.from([...POINT, 0]);
  for (let at = 4; at < loca.length; at += 4) loca.writeUInt32BE(glyf.length, at);
  const long = Buffer.from(head);
  long.writeInt16BE(1, 50);
  return new Map([...tables, ['head', long], ['glyf', glyf], ['loca', loca], ['name', NO_NAMES]]);
}

/** A blank font as a `data:` URL, and its rule. */
interface SmallRoom {
  url: string;
  rule: string;
}

/**
 * The rooms of letters that do not join, of 500 bytes each. A page that preloads their URLs has the fonts when it is
 * first laid out, however busy the reader's machine is.
 */
export function smallRooms(letters: string): SmallRoom[] {
  const alphabets = ALPHABETS.filter(({ joins, letters: own }) => !joins && letters.match(own)).flatMap((alphabet) =>
    alphabet.weights.map((weight) => {
      const looks = { weight, size: alphabet.size, range: alphabet.everyday };
      return smallRoom(fileOf(alphabet, weight), looks, () => roomOfAlphabet(alphabet, weight));
    }),
  );
  if (!CJK.test(letters)) return alphabets;
  return [...alphabets, smallRoom('CJK', { weight: null, size: 100, range: CJK_RANGE }, roomOfIdeographs)];
}

const small = new Map<string, SmallRoom>();

function smallRoom(name: string, looks: Parameters<typeof ruleOf>[2], make: () => Buffer): SmallRoom {
  const made = small.get(name);
  if (made !== undefined) return made;
  const url = `data:font/woff2;base64,${make().toString('base64')}`;
  const room = { url, rule: roomRule(url, looks) };
  small.set(name, room);
  return room;
}

function roomOfAlphabet(alphabet: Alphabet, weight: number): Buffer {
  const tables = tablesIn(fileOf(alphabet, weight));
  const reader = new GlyphReader(tables);
  return blankFont(
    tables,
    codesOf(spansOf(alphabet.everyday)).map((code) => {
      return { first: code, last: code, glyph: blankOf(reader.find(code)?.advance ?? 0) };
    }),
  );
}

/** Ideographs and kana are one em wide, half-width forms half an em, and all Hangul syllables have the same width. */
function roomOfIdeographs(): Buffer {
  const face = present(facesFor('serif', SYLLABLE, 'ko').find(isOfCjk));
  const tables = tablesIn(present(subsetsByCode(face).get(codeOf(SYLLABLE))).file);
  const em = present(tables.get('head')).readUInt16BE(18);
  const { advance } = present(new GlyphReader(tables).find(codeOf(SYLLABLE)));
  const [half, full, syllable] = [blankOf(em / 2), blankOf(em), blankOf(advance)];
  const spans = spansOf(CJK_RANGE).flatMap(([first, last]) => {
    return first === 0xff00
      ? [
          { first, last: 0xff60, glyph: full },
          { first: 0xff61, last: 0xffdc, glyph: half },
          { first: 0xffdd, last, glyph: full },
        ]
      : [{ first, last, glyph: first === 0xac00 ? syllable : full }];
  });
  return blankFont(tables, spans);
}

/** A font without the names of the one whose metrics it has: they would be most of the file. */
const blankFont = (tables: Tables, spans: readonly Span[]): Buffer =>
  fontOf(new Map([...tables, ['name', NO_NAMES]]), { ...blankOf(0), ...outlined(POINT) }, spans);

const SYLLABLE = '한';

/** The outline of a single point, because browsers reject a font without any. */
const POINT = Buffer.from([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x31]);

/** A `name` table without names. */
const NO_NAMES = Buffer.from([0, 0, 0, 0, 0, 6]);

/** Pages preload this font, and browsers wait for it briefly before they paint, as they do for Latin fonts. */
const roomRule = (path: string, looks: Parameters<typeof ruleOf>[2]): string =>
  ruleOf(ROOM, path, looks).replace('font-display:swap', 'font-display:optional');

function ruleOf(
  family: string,
  address: string,
  { weight, size, range }: { weight: number | string | null; size: number; range: string },
): string {
  const declarations = [
    `font-family:"${family}"`,
    ...(weight === null ? [] : [`font-weight:${weight}`]),
    'font-display:swap',
    ...(size === 100 ? [] : [`size-adjust:${size}%`]),
    `src:url("${address}")format("woff2")`,
    `unicode-range:${range}`,
  ];
  return `@font-face{${declarations.join(';')}}\n`;
}

const codeOf = (letter: string): number => present(letter.codePointAt(0));

const codesOf = (spans: Subset['ranges']): number[] =>
  spans.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));

const codesIn = (letters: string): number[] => [...new Set(letters)].map(codeOf);

/** These letters as a `unicode-range`. */
function rangeOf(letters: string): string {
  const spans: [number, number][] = [];
  for (const code of codesIn(letters).sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] === code - 1) last[1] = code;
    else spans.push([code, code]);
  }
  return spans.map(([from, to]) => spanText(from, to)).join();
}

/** The spans of a `unicode-range`: the first and the last code point of each. */
const spansOf = (range: string): [number, number][] =>
  range.split(',').map((span) => {
    const [first = 0, last = first] = span
      .slice('U+'.length)
      .split('-')
      .map((hex) => Number.parseInt(hex, 16));
    return [first, last];
  });

const spanText = (from: number, to: number): string =>
  `U+${from.toString(16)}${from === to ? '' : `-${to.toString(16)}`}`;

const versions = new Map<string, string>();

/** Names a file after everything that decides its bytes. */
function idOf(name: string, letters: string): string {
  const version = versions.get(name) ?? (require(`${name}/package.json`) as { version: string }).version;
  versions.set(name, version);
  return sha256(`${VERSION} ${name} ${version} ${letters}`).slice('sha256:'.length, 'sha256:'.length + 16);
}

const tablesIn = (source: string): Tables => tablesOf(readFileSync(placeOf(source)));

/** The path of a file in a package. */
function placeOf(source: string): string {
  const name = source.split('/').slice(0, 2).join('/');
  const folder = require.resolve(`${name}/package.json`).slice(0, -'package.json'.length);
  return `${folder}${source.slice(name.length + 1)}`;
}
