/**
 * The pairs of typefaces that come with Broadsheet, by the name of the face of the text, and the families of each:
 * `src/layouts/type-<pair>.css` declares them, `tools/fonts` made their files. DECISIONS.md says why these.
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

/** Whether a paper with these typefaces has a file of the build: it needs no fonts of another pair. */
export function needsAsset(path: string, typefaces: Typefaces): boolean {
  const [, family = ''] = /^_astro\/([a-z0-9-]+?)-(?:latin|european|greek|cyrillic|vietnamese)\b/.exec(path) ?? [];
  return !FAMILIES.has(family) || (TYPEFACES[typefaces] as readonly string[]).includes(family);
}
