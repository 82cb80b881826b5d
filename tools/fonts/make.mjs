// Makes src/layouts/typefaces/: the faces of each family as subsets with the axes that pages use, and a stylesheet of
// @font-face rules with fallbacks of the same metrics. Run it after changing a family here: npm ci && npm run make.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import opentype from 'opentype.js';
import subsetFont from 'subset-font';

const require = createRequire(import.meta.url);
const OUT = fileURLToPath(new URL('../../src/layouts/typefaces/', import.meta.url));

/** Features that pages use. Small capitals, swashes and old figures would be a fifth of each file. */
const FEATURES = ['kern', 'liga'];
/** Other scripts and rarer letters need these to place their marks. */
const MARKS = ['ccmp', 'locl', 'mark', 'mkmk', 'calt', 'rlig'];

/** `latin` is what fontsource's has and pages use; `european` is the part of latin-ext that languages of Europe use. */
const LATIN =
  'U+0000,U+000D,U+0020-007E,U+00A0-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2009-200A,U+2010-2026,U+202F,U+2030,U+2039-203A,U+2044,U+20AC,U+2122,U+2190-2193,U+2212,U+FFFD';
const EUROPEAN = 'U+0100-0130,U+0132-0151,U+0154-017F,U+0192,U+0218-021B,U+1E9E,U+20A9-20BF';

/**
 * @type {{ name: string, family: string, axis: string, opsz?: number, weights: [number, number], features?: string[],
 *   italic: boolean, fallback: 'serif' | 'sans' }[]}
 */
const FAMILIES = [
  {
    name: 'source-serif-4',
    family: 'Source Serif 4',
    axis: 'opsz',
    opsz: 20,
    weights: [400, 800],
    italic: true,
    fallback: 'serif',
  },
  {
    name: 'libre-franklin',
    family: 'Libre Franklin',
    axis: 'wght',
    weights: [400, 700],
    features: ['tnum'],
    italic: false,
    fallback: 'sans',
  },
  { name: 'lora', family: 'Lora', axis: 'wght', weights: [400, 700], italic: true, fallback: 'serif' },
  {
    name: 'figtree',
    family: 'Figtree',
    axis: 'wght',
    weights: [400, 700],
    features: ['tnum'],
    italic: false,
    fallback: 'sans',
  },
  { name: 'bitter', family: 'Bitter', axis: 'wght', weights: [400, 800], italic: true, fallback: 'serif' },
  {
    name: 'public-sans',
    family: 'Public Sans',
    axis: 'wght',
    weights: [400, 800],
    features: ['tnum'],
    italic: true,
    fallback: 'sans',
  },
];

/** A later rule wins where two cover a character, so the small files come last. */
const ORDER = ['latin-ext', 'greek-ext', 'cyrillic-ext', 'vietnamese', 'greek', 'cyrillic', 'european', 'latin'];

/** Fonts of systems, by what npm has of the same widths: those of Windows, macOS, iOS and Linux, and those of Android. */
const SYSTEM = {
  serif: {
    tinos: {
      400: ['Times New Roman', 'Liberation Serif', 'Tinos'],
      700: ['Times New Roman Bold', 'Liberation Serif Bold', 'Tinos Bold'],
    },
    'noto-serif': { 400: ['Noto Serif', 'NotoSerif'], 700: ['Noto Serif Bold', 'NotoSerif-Bold'] },
  },
  sans: {
    arimo: {
      400: ['Arial', 'Liberation Sans', 'Arimo', 'Helvetica Neue'],
      700: ['Arial Bold', 'Liberation Sans Bold', 'Arimo Bold'],
    },
    roboto: { 400: ['Roboto', 'Roboto Regular'], 700: ['Roboto Bold', 'Roboto-Bold'] },
  },
};

/** Letters by their frequency in text, over which widths are averaged. */
const SAMPLE = 'aaabcdeeeefghiijklmnnoopqrrssttuvwxyz      ';

const charactersOf = (range) =>
  range
    .split(',')
    .flatMap((part) => {
      const [first, last = first] = part
        .replace('U+', '')
        .split('-')
        .map((hex) => Number.parseInt(hex, 16));
      return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));
    })
    .join('');

const folderOf = (name) => dirname(require.resolve(`@fontsource-variable/${name}/package.json`));

async function metricsOf(bytes) {
  const ttf = await subsetFont(bytes, charactersOf(LATIN), { targetFormat: 'truetype' });
  const font = opentype.parse(ttf.buffer.slice(ttf.byteOffset, ttf.byteOffset + ttf.byteLength));
  const width =
    [...SAMPLE].reduce((sum, letter) => sum + (font.charToGlyph(letter).advanceWidth ?? 0), 0) / SAMPLE.length;
  const em = font.unitsPerEm;
  const { ascender, descender, lineGap } = font.tables.hhea;
  return { width: width / em, ascent: ascender / em, descent: -descender / em, gap: lineGap / em };
}

const percent = (value) => `${(value * 100).toFixed(2)}%`;

async function makeFamily({ name, family, axis, opsz, weights: [low, high], features = [], italic, fallback }) {
  const folder = folderOf(name);
  const ranges = JSON.parse(readFileSync(join(folder, 'unicode.json'), 'utf8'));
  const rules = [];
  const sizes = [];
  for (const style of italic ? ['normal', 'italic'] : ['normal']) {
    const subsets = Object.keys(ranges).flatMap((subset) => {
      if (!ORDER.includes(subset)) return [];
      if (subset === 'latin') return [['latin', 'latin', LATIN]];
      if (subset === 'latin-ext')
        return [
          ['european', 'latin-ext', EUROPEAN],
          ...(style === 'normal' ? [['latin-ext', 'latin-ext', ranges[subset]]] : []),
        ];
      return subset.endsWith('-ext') && style === 'italic' ? [] : [[subset, subset, ranges[subset]]];
    });
    subsets.sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b));
    for (const [label, subset, range] of subsets) {
      const bytes = readFileSync(join(folder, `files/${name}-${subset}-${axis}-${style}.woff2`));
      const made = await subsetFont(bytes, charactersOf(range), {
        targetFormat: 'woff2',
        keepFeatures: [...FEATURES, ...features, ...(label === 'latin' ? [] : MARKS)],
        variationAxes: {
          ...(opsz === undefined ? {} : { opsz }),
          // Italics are set at the weight of text alone.
          wght: style === 'italic' ? 400 : { min: low, max: high },
        },
      });
      const file = `${name}-${label}${style === 'italic' ? '-italic' : ''}.woff2`;
      writeFileSync(join(OUT, file), made);
      if (label === 'latin') sizes.push(`${file} ${made.length}`);
      rules.push(`@font-face {
  font-family: "${family}";
  font-style: ${style};
  font-display: ${style === 'italic' ? 'swap' : 'optional'};
  font-weight: ${style === 'italic' ? '400' : `${low} ${high}`};
  src: url("./${file}") format("woff2");
  unicode-range: ${range.replaceAll(',', ', ')};
}`);
    }
  }
  const source = readFileSync(join(folder, `files/${name}-latin-${axis}-normal.woff2`));
  const fallbacks = [];
  for (const [index, [system, faces]] of Object.entries(SYSTEM[fallback]).entries()) {
    for (const weight of [400, 700]) {
      const pinned = await subsetFont(source, charactersOf(LATIN), {
        targetFormat: 'truetype',
        variationAxes: { ...(opsz === undefined ? {} : { opsz }), wght: weight },
      });
      const own = await metricsOf(pinned);
      const path = `@fontsource/${system}/files/${system}-latin-${weight}-normal.woff2`;
      const adjust = own.width / (await metricsOf(readFileSync(require.resolve(path)))).width;
      fallbacks.push(`@font-face {
  font-family: "${family} Fallback${index === 0 ? '' : ` ${index + 1}`}";
  font-weight: ${weight === 400 ? '400' : '600 900'};
  src: ${faces[weight].map((face) => `local("${face}")`).join(', ')};
  size-adjust: ${percent(adjust)};
  ascent-override: ${percent(own.ascent / adjust)};
  descent-override: ${percent(own.descent / adjust)};
  line-gap-override: ${percent(own.gap / adjust)};
  unicode-range: ${`${LATIN},${EUROPEAN}`.replaceAll(',', ', ')};
}`);
    }
  }
  const note = `/* Made by tools/fonts/make.mjs. ${family}: SIL Open Font License 1.1, see ${name}-LICENSE.txt. */`;
  writeFileSync(join(OUT, `${name}.css`), `${[note, ...rules, ...fallbacks].join('\n\n')}\n`);
  writeFileSync(join(OUT, `${name}-LICENSE.txt`), readFileSync(join(folder, 'LICENSE')));
  console.log(sizes.join(', '));
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
for (const family of FAMILIES) await makeFamily(family);
