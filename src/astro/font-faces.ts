import { SCRIPT_FAMILIES, SCRIPT_LANGUAGES } from '../shared/script-letters.ts';

// The families of typefaces: tools/fonts makes their files in src/layouts/typefaces, the build their @font-face rules.

/** Unicode ranges of the subsets. Where two rules cover a character the later one wins, so the small files come last. */
export const RANGES = {
  'latin-ext':
    'U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF',
  'cyrillic-ext': 'U+0460-052F,U+1C80-1C8A,U+20B4,U+2DE0-2DFF,U+A640-A69F,U+FE2E-FE2F',
  vietnamese:
    'U+0102-0103,U+0110-0111,U+0128-0129,U+0168-0169,U+01A0-01A1,U+01AF-01B0,U+0300-0301,U+0303-0304,U+0308-0309,U+0323,U+0329,U+1EA0-1EF9,U+20AB',
  greek: 'U+0370-0377,U+037A-037F,U+0384-038A,U+038C,U+038E-03A1,U+03A3-03FF',
  cyrillic: 'U+0301,U+0400-045F,U+0490-0491,U+04B0-04B1,U+2116',
  /** The part of latin-ext that European languages use. */
  european: 'U+0100-0130,U+0132-0151,U+0154-017F,U+0192,U+0218-021B,U+1E9E,U+20A9-20BF',
  /** The part of fontsource’s latin that pages use. */
  latin:
    'U+0000,U+000D,U+0020-007E,U+00A0-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2009-200A,U+2010-2026,U+202F,U+2030,U+2039-203A,U+2044,U+20AC,U+2122,U+2190-2193,U+2212,U+FFFD',
} as const;
type Subset = keyof typeof RANGES;

/** System fonts: regular and bold of Windows, macOS, iOS and Linux, then of Android. */
const SYSTEM = {
  serif: [
    ['Times New Roman', 'Liberation Serif', 'Tinos'],
    ['Times New Roman Bold', 'Liberation Serif Bold', 'Tinos Bold'],
    ['Noto Serif', 'NotoSerif'],
    ['Noto Serif Bold', 'NotoSerif-Bold'],
  ],
  sans: [
    ['Arial', 'Liberation Sans', 'Arimo', 'Helvetica Neue'],
    ['Arial Bold', 'Liberation Sans Bold', 'Arimo Bold'],
    ['Roboto', 'Roboto Regular'],
    ['Roboto Bold', 'Roboto-Bold'],
  ],
};

interface Family {
  family: string;
  /** The heaviest weight; the lightest is 400. */
  heaviest: 700 | 800;
  /** Subsets besides `latin-ext`, `european` and `latin`, which every family has. */
  scripts: Subset[];
  italic: boolean;
  fallback: keyof typeof SYSTEM;
  /** For each font of SYSTEM: the size-adjust, ascent and descent, in percent, that give it the family's metrics. */
  metrics: [size: number, ascent: number, descent: number][];
  /** The family’s own range of `latin-ext`, where fontsource has another. */
  latinExt?: string;
}

export const FAMILIES: Readonly<Record<string, Family>> = {
  'source-serif-4': {
    family: 'Source Serif 4',
    heaviest: 800,
    italic: true,
    fallback: 'serif',
    scripts: ['cyrillic-ext', 'vietnamese', 'greek', 'cyrillic'],
    metrics: [
      [110.65, 93.63, 30.28],
      [107.86, 96.05, 31.06],
      [92.83, 111.6, 36.09],
      [90.59, 114.36, 36.98],
    ],
    latinExt: RANGES['latin-ext'].replace('20C0', '20C4'),
  },
  'libre-franklin': {
    family: 'Libre Franklin',
    heaviest: 700,
    italic: false,
    fallback: 'sans',
    scripts: ['cyrillic-ext', 'vietnamese', 'cyrillic'],
    metrics: [
      [104.92, 92.07, 23.45],
      [100.32, 96.29, 24.52],
      [104.53, 92.41, 23.53],
      [106.58, 90.64, 23.08],
    ],
  },
  lora: {
    family: 'Lora',
    heaviest: 700,
    italic: true,
    fallback: 'serif',
    scripts: ['cyrillic-ext', 'vietnamese', 'cyrillic'],
    metrics: [
      [114.93, 87.53, 23.84],
      [111.44, 90.27, 24.59],
      [96.43, 104.33, 28.42],
      [93.6, 107.47, 29.27],
    ],
  },
  figtree: {
    family: 'Figtree',
    heaviest: 700,
    italic: false,
    fallback: 'sans',
    scripts: [],
    metrics: [
      [101.29, 93.79, 24.68],
      [96.8, 98.14, 25.83],
      [100.92, 94.14, 24.77],
      [102.83, 92.38, 24.31],
    ],
  },
  bitter: {
    family: 'Bitter',
    heaviest: 800,
    italic: true,
    fallback: 'serif',
    scripts: ['cyrillic-ext', 'vietnamese', 'cyrillic'],
    metrics: [
      [114.74, 81.49, 23.09],
      [110.35, 84.73, 24.01],
      [96.27, 97.12, 27.53],
      [92.69, 100.88, 28.59],
    ],
  },
  'public-sans': {
    family: 'Public Sans',
    heaviest: 800,
    italic: true,
    fallback: 'sans',
    scripts: ['vietnamese'],
    metrics: [
      [105.47, 90.07, 21.33],
      [99.77, 95.22, 22.55],
      [105.08, 90.41, 21.41],
      [106.0, 89.63, 21.23],
    ],
  },
};

const rule = (descriptors: Readonly<Record<string, string>>): string =>
  `@font-face {${Object.entries(descriptors)
    .map(([name, value]) => `${name}: ${value};`)
    .join('')}}`;

/** The subsets of a family in the order of their rules. Italics have no `-ext` subsets. */
export const subsetsOf = ({ scripts }: Family, isItalic: boolean): Subset[] =>
  (['latin-ext', ...scripts, 'european', 'latin'] as const).filter((name) => !(isItalic && name.endsWith('-ext')));

function familyOf(name: string): Family {
  const found = FAMILIES[name];
  if (found === undefined) throw new Error(`there is no family ${name} in src/astro/font-faces.ts`);
  return found;
}

/** The @font-face rules of a family and of its fallbacks, for a stylesheet in src/layouts. */
export function fontFaces(name: string): string {
  const font = familyOf(name);
  const { family, heaviest, italic, fallback, metrics } = font;
  const faces = (italic ? [false, true] : [false]).flatMap((isItalic) =>
    subsetsOf(font, isItalic).map((subset) =>
      rule({
        'font-family': `"${family}"`,
        'font-style': isItalic ? 'italic' : 'normal',
        'font-display': isItalic ? 'swap' : 'optional',
        'font-weight': isItalic ? '400' : `400 ${heaviest}`,
        src: `url("./typefaces/${name}-${subset}${isItalic ? '-italic' : ''}.woff2") format("woff2")`,
        'unicode-range': (subset === 'latin-ext' && font.latinExt) || RANGES[subset],
      }),
    ),
  );
  const fallbacks = SYSTEM[fallback].map((fonts, index) => {
    const [size, ascent, descent] = metrics[index] ?? [100, 100, 100];
    return rule({
      'font-family': `"${family} Fallback${index < 2 ? '' : ' 2'}"`,
      'font-weight': index % 2 === 0 ? '400' : '600 900',
      src: fonts.map((font) => `local("${font}")`).join(', '),
      'size-adjust': `${size}%`,
      'ascent-override': `${ascent}%`,
      'descent-override': `${descent}%`,
      'line-gap-override': '0.00%',
      'unicode-range': `${RANGES.latin},${RANGES.european}`,
    });
  });
  return [...faces, ...fallbacks].join('\n');
}

/** Fallbacks where neither the family nor a font with its metrics is available. */
const REST = {
  serif: 'Charter, "Iowan Old Style", "Noto Serif", Georgia, serif',
  sans: '"Franklin Gothic Medium", "Helvetica Neue", Arial, sans-serif',
};

/**
 * The rules of a pair of families, for text and for labels. The mark of an AI persona has the family of labels by its
 * name, because a paper may set the custom property: see mark.css.
 */
export function fontPair(text: string, labels: string): string {
  const faceOf = ({ family }: Family) => `"${family}", "${family} Fallback", "${family} Fallback 2"`;
  const [textFont, labelFont] = [familyOf(text), familyOf(labels)];
  return `${[...new Set([text, labels])].map(fontFaces).join('\n')}
:root {
  --text-face: ${faceOf(textFont)};
  --text-rest: ${REST[textFont.fallback]};
  --label-face: ${faceOf(labelFont)};
  --label-rest: ${REST[labelFont.fallback]};
}
@layer {
  .ai.ai {
    font-family: "${labelFont.family}", "${labelFont.family} Fallback", "Helvetica Neue", Arial, sans-serif, ${SCRIPT_FAMILIES} !important;
  }
  .ai.ai:is(${SCRIPT_LANGUAGES.map((language) => `:lang(${language})`).join(', ')}) {
    font-family: "Helvetica Neue", Arial, ${SCRIPT_FAMILIES}, sans-serif !important;
  }
}`;
}
