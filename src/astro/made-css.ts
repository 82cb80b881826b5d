import { fileURLToPath } from 'node:url';
import type { AstroUserConfig } from 'astro';
import { fontFaces, fontPair } from './font-faces.ts';

type CssOptions = NonNullable<NonNullable<AstroUserConfig['vite']>['css']>;
type PostcssPlugin = NonNullable<Exclude<CssOptions['postcss'], string | undefined>['plugins']>[number];

/** One class for each number from `from` to `to`, which sets a property: pages may not use style attributes. */
function steps(from: number, to: number, rule: (n: number) => [className: string, property: string, value: number]) {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return numbers.map((n) => {
    const [className, property, value] = rule(n);
    return `.${className} {${property}: ${value}}`;
  });
}

/** The file name that made rules get in PostCSS: URLs in them are relative to its folder. */
const SOURCE = fileURLToPath(new URL('../layouts/made.css', import.meta.url));

const MADE: Readonly<Record<string, (...names: string[]) => string>> = {
  /** `@made typeface FAMILY;` */
  typeface: (family = '') => fontFaces(family),
  /** `@made pair TEXT LABELS;` */
  pair: (text = '', labels = '') => fontPair(text, labels),
  /** The hues in steps of ten degrees, for pages that show many papers. */
  hues: () => steps(0, 35, (n) => [`hue-${n * 10}`, '--hue', n * 10]).join(''),
  /** The dominant colour of a picture in 16 steps of red, green and blue: see src/media/picture-sources.ts. */
  tones: () => ['r', 'g', 'b'].flatMap((c) => steps(0, 15, (n) => [c + n.toString(16), `--${c}`, n * 17])).join(''),
  /** The column of a calendar in which a month begins; Monday is 1. */
  weekdays: () => steps(2, 7, (n) => [`from-${n}`, 'grid-column', n]).join(''),
  /** The aspect of a picture in tenths: see src/desk/press/prose-pictures.ts. */
  aspects: () => steps(4, 30, (n) => [`x${n}`, '--x', n]).join(''),
};

/** Replaces each `@made NAME PARAMETERS;` of a stylesheet by the rules that the build makes for it. */
export const madeCss: PostcssPlugin = {
  postcssPlugin: 'made-css',
  Once(root, { parse }) {
    root.walkAtRules('made', (rule) => {
      const [name = '', ...parameters] = rule.params.split(' ');
      const make = MADE[name];
      if (make === undefined) throw rule.error(`there is no @made ${name} in src/astro/made-css.ts`);
      rule.replaceWith(parse(make(...parameters), { from: SOURCE }).nodes);
    });
  },
};
