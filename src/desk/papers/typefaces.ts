/**
 * The typeface pairs that come with Broadsheet, by the name of the text face, and the families of each.
 * `src/layouts/type-<pair>.css` declares them; `src/astro/font-faces.ts` has their rules. See
 * docs/decisions/019-looks-and-the-mark.md.
 */
export const TYPEFACES = {
  'source-serif': ['source-serif-4', 'libre-franklin'],
  lora: ['lora', 'figtree'],
  bitter: ['bitter', 'public-sans'],
  'public-sans': ['public-sans'],
} as const satisfies Record<string, readonly string[]>;

export type Typefaces = keyof typeof TYPEFACES;

export const TYPEFACE_NAMES = Object.keys(TYPEFACES) as [Typefaces, ...Typefaces[]];

export const DEFAULT_TYPEFACES: Typefaces = 'source-serif';

const FAMILIES = new Set<string>(Object.values(TYPEFACES).flat());

/** Stylesheets and scripts of the console, which serves them itself. */
const OF_CONSOLE = /^_astro\/(?:console(?:-[a-z]+)*|editor|passkey|swap|upload)\./;

/**
 * Whether a paper with these typefaces needs a file of the build: no files of the console, and only fonts of its own
 * pair and of the default pair, which pages of the shared host use.
 */
export function needsAsset(path: string, typefaces: Typefaces): boolean {
  if (OF_CONSOLE.test(path)) return false;
  const [, family = ''] = /^_astro\/([a-z0-9-]+?)-(?:latin|european|greek|cyrillic|vietnamese)\b/.exec(path) ?? [];
  const [, pair = ''] = /^_astro\/type-([a-z-]+)\./.exec(path) ?? [];
  const needed: readonly string[] = [...TYPEFACES[typefaces], ...TYPEFACES[DEFAULT_TYPEFACES]];
  if (pair in TYPEFACES) return pair === typefaces || pair === DEFAULT_TYPEFACES;
  return !FAMILIES.has(family) || needed.includes(family);
}
