import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { present } from '../proof/narrow.ts';
import { type Face, facesFor, type Subset, subsetsOf } from './card/card-fonts.ts';

/** The weights that pages set text in. */
const WEIGHTS = [400, 700];

const require = createRequire(import.meta.url);

/** A file of a font below `fonts/`, and its `@font-face` rule for a stylesheet beside that folder. */
export interface ScriptFont {
  path: string;
  rule: string;
  bytes(): Uint8Array;
}

/**
 * The parts of fonts that have these letters, by path. The language decides between fonts that share ideographs. They
 * are the fonts of the share cards, whose packages ship them in parts of some tens of kilobytes.
 */
export function scriptFonts(letters: string, language: string): ScriptFont[] {
  // The first ones are for Latin.
  const faces = facesFor('serif', letters, language).filter((face) => !face.package.endsWith('source-serif-4'));
  const subsets = new Set<Subset>();
  for (const letter of letters) {
    const code = present(letter.codePointAt(0));
    for (const face of faces) {
      const subset = subsetsByCode(face).get(code);
      if (subset === undefined) continue;
      subsets.add(subset);
      break;
    }
  }
  return [...subsets].flatMap(filesOf).sort((a, b) => (a.path < b.path ? -1 : 1));
}

const byCode = new Map<Face, ReadonlyMap<number, Subset>>();

/** The first subset of a face that declares each code point: a paper may have thousands of ideographs. */
function subsetsByCode(face: Face): ReadonlyMap<number, Subset> {
  const cached = byCode.get(face);
  if (cached) return cached;
  const found = new Map<number, Subset>();
  for (const subset of subsetsOf(face).toReversed()) {
    for (const [from, to] of subset.ranges) for (let code = from; code <= to; code++) found.set(code, subset);
  }
  byCode.set(face, found);
  return found;
}

function filesOf({ face, file, ranges }: Subset): ScriptFont[] {
  const family = face.package.slice(face.package.indexOf('/') + 1);
  const stem = file.replace(/-(?:\d+|wght)-normal\.woff2?$/, '');
  const weights = face.variable ? ['wght'] : WEIGHTS.map(String);
  return weights.flatMap((weight) => {
    const source = `${stem}-${weight}-normal.woff2`;
    const place = placeOf(source);
    if (place === null) return [];
    const path = `fonts/${source.slice(source.lastIndexOf('/') + 1)}`;
    const range = ranges.map(([from, to]) => `U+${from.toString(16)}${from === to ? '' : `-${to.toString(16)}`}`);
    const rule = [
      `font-family:"${family}"`,
      `font-weight:${weight === 'wght' ? '200 900' : weight}`,
      'font-display:swap',
      // Its letters are small for their size beside those of Latin.
      ...(family === 'amiri' ? ['size-adjust:118%'] : []),
      `src:url("${path}")format("woff2")`,
      `unicode-range:${range.join()}`,
    ];
    return [{ path, rule: `@font-face{${rule.join(';')}}\n`, bytes: () => readFileSync(place) }];
  });
}

/** Where a file of a package is; null for a weight that the font does not have. */
function placeOf(source: string): string | null {
  const name = source.split('/').slice(0, 2).join('/');
  const place = `${require.resolve(`${name}/package.json`).slice(0, -'package.json'.length)}${source.slice(name.length + 1)}`;
  return existsSync(place) ? place : null;
}
