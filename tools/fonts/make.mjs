// Makes src/layouts/typefaces/: the faces of each family of src/astro/font-faces.ts as subsets with the axes that pages
// use, and their licence. Fails if that table has other ranges or metrics than the fonts. Run it after changing a
// family there: npm ci && npm run make.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import opentype from 'opentype.js';
import subsetFont from 'subset-font';
import { FAMILIES, RANGES, subsetsOf } from '../../src/astro/font-faces.ts';

const require = createRequire(import.meta.url);
const OUT = fileURLToPath(new URL('../../src/layouts/typefaces/', import.meta.url));

/** Features that pages use. Small capitals, swashes and old-style figures would take a fifth of each file. */
const FEATURES = ['kern', 'liga'];
/** Other scripts and rarer letters need these to place their marks. */
const MARKS = ['ccmp', 'locl', 'mark', 'mkmk', 'calt', 'rlig'];

/** Families with an axis of optical size, and the size that pages use. */
const OPTICAL = { 'source-serif-4': 20 };

/** Fonts with the same widths as system fonts: those of Windows, macOS, iOS and Linux, then of Android. */
const SYSTEM = { serif: ['tinos', 'noto-serif'], sans: ['arimo', 'roboto'] };

/** Letters as often as in English text, for the average width. */
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
  const ttf = await subsetFont(bytes, charactersOf(RANGES.latin), { targetFormat: 'truetype' });
  const font = opentype.parse(ttf.buffer.slice(ttf.byteOffset, ttf.byteOffset + ttf.byteLength));
  const width =
    [...SAMPLE].reduce((sum, letter) => sum + (font.charToGlyph(letter).advanceWidth ?? 0), 0) / SAMPLE.length;
  const em = font.unitsPerEm;
  const { ascender, descender, lineGap } = font.tables.hhea;
  return { width: width / em, ascent: ascender / em, descent: -descender / em, gap: lineGap / em };
}

const percent = (value) => Number((value * 100).toFixed(2));

/** Writes the files of a family. Returns its copyright notice, followed by the licence. */
async function makeFamily(name, font) {
  const folder = folderOf(name);
  const opsz = name in OPTICAL ? { opsz: OPTICAL[name] } : {};
  const axis = name in OPTICAL ? 'opsz' : 'wght';
  const ranges = JSON.parse(readFileSync(join(folder, 'unicode.json'), 'utf8'));
  const figures = font.fallback === 'sans' ? ['tnum'] : [];
  const sizes = [];
  for (const style of font.italic ? ['normal', 'italic'] : ['normal']) {
    for (const subset of subsetsOf(font, style === 'italic')) {
      const own = subset === 'latin-ext' ? (font.latinExt ?? RANGES[subset]) : RANGES[subset];
      if (subset !== 'latin' && subset !== 'european') assert.equal(own, ranges[subset], `${name}: ${subset}`);
      const from = subset === 'european' ? 'latin-ext' : subset;
      const bytes = readFileSync(join(folder, `files/${name}-${from}-${axis}-${style}.woff2`));
      const made = await subsetFont(bytes, charactersOf(own), {
        targetFormat: 'woff2',
        keepFeatures: [...FEATURES, ...figures, ...(subset === 'latin' ? [] : MARKS)],
        variationAxes: {
          ...opsz,
          // Pages use italics only at the weight of text.
          wght: style === 'italic' ? 400 : { min: 400, max: font.heaviest },
        },
      });
      const file = `${name}-${subset}${style === 'italic' ? '-italic' : ''}.woff2`;
      writeFileSync(join(OUT, file), made);
      if (subset === 'latin') sizes.push(`${file} ${made.length}`);
    }
  }
  const source = readFileSync(join(folder, `files/${name}-latin-${axis}-normal.woff2`));
  const metrics = [];
  for (const system of SYSTEM[font.fallback]) {
    for (const weight of [400, 700]) {
      const pinned = await subsetFont(source, charactersOf(RANGES.latin), {
        targetFormat: 'truetype',
        variationAxes: { ...opsz, wght: weight },
      });
      const own = await metricsOf(pinned);
      assert.equal(own.gap, 0, `${name} has a line gap`);
      const path = `@fontsource/${system}/files/${system}-latin-${weight}-normal.woff2`;
      const adjust = own.width / (await metricsOf(readFileSync(require.resolve(path)))).width;
      metrics.push([percent(adjust), percent(own.ascent / adjust), percent(own.descent / adjust)]);
    }
  }
  assert.deepEqual(font.metrics, metrics, `${name}: the metrics in src/astro/font-faces.ts`);
  console.log(sizes.join(', '));
  const text = readFileSync(join(folder, 'LICENSE'), 'utf8');
  const end = text.indexOf('\n');
  return { notice: `${font.family}: ${text.slice(0, end)}`, licence: text.slice(end + 1) };
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const made = [];
for (const [name, font] of Object.entries(FAMILIES)) made.push(await makeFamily(name, font));
const [licence, ...others] = new Set(made.map(({ licence }) => licence));
assert.deepEqual(others, [], 'the families have different licences');
writeFileSync(join(OUT, 'LICENSE.txt'), `${made.map(({ notice }) => notice).join('\n')}\n${licence}`);
