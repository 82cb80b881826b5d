import { hueColor } from './card/card-color.ts';

/** The background of icons that must not be transparent, and of a web app while it starts. */
export const ICON_GROUND = '#fbf9f7';

/** The side of the default icon, in units of its SVG. */
export const ICON_SIDE = 32;

/** The default icon, for a paper without its own: a page of a newspaper in the paper's hue. */
export function defaultIcon(hue: number): string {
  const [ink, light] = [hueColor(0.33, 0.1, hue), hueColor(0.9, 0.028, hue)];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>.p{fill:#fbf9f7}.i{fill:${ink}}` +
    `@media (prefers-color-scheme:dark){.p{fill:#1d1916}.i{fill:${light}}}</style>` +
    '<rect class="i" width="32" height="32" rx="4"/>' +
    '<path class="p" d="M6 7h20v4H6zM6 14h9v11H6zM18 14h8v2h-8zM18 18.500h8v2h-8zM18 23h8v2h-8z"/></svg>'
  );
}
