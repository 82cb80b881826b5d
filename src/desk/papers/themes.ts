/**
 * The themes of papers, which define the layout of their pages. `broadsheet` has a front in columns; `magazine` a cover
 * and cards; `wire` lists the newest pieces first, by day and time. See docs/decisions/019-looks-and-the-mark.md.
 */
export const THEMES = ['broadsheet', 'magazine', 'wire'] as const;

export type Theme = (typeof THEMES)[number];

export const DEFAULT_THEME: Theme = 'broadsheet';

/** Whether a paper with this theme needs a file of the build: not the stylesheets of other themes. */
export function isOfTheme(path: string, theme: Theme): boolean {
  const [, name] = /^_astro\/theme-([a-z]+)(?:-front)?\./.exec(path) ?? [];
  return name === undefined || name === theme;
}
