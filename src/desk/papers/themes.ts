/**
 * The themes of papers: how their pages are laid out. `broadsheet` is a front in columns; `magazine` a cover and cards;
 * `wire` the newest first, by day and clock. docs/decisions/019-looks-and-the-mark.md says why these.
 */
export const THEMES = ['broadsheet', 'magazine', 'wire'] as const;

export type Theme = (typeof THEMES)[number];

export const DEFAULT_THEME: Theme = 'broadsheet';

/** Whether a paper with this theme has a file of the build: it needs no stylesheets of another theme. */
export function isOfTheme(path: string, theme: Theme): boolean {
  const [, name] = /^_astro\/theme-([a-z]+)(?:-front)?\./.exec(path) ?? [];
  return name === undefined || name === theme;
}
