import { defaultIcon, ICON_GROUND, ICON_SIDE } from '../../../media/icon.ts';
import { sha256 } from '../../../proof/basis.ts';
import type { Media } from '../../papers/media.ts';
import type { Edition } from '../edition.ts';
import { fileUrl } from '../feeds/channel.ts';
import { type RenderedFile, singleOutput } from '../output.ts';
import type { Logo } from '../structured-data.ts';
import type { Frame } from '../views.ts';

/** Increment this when the same icon would be drawn differently, so that its files get new names. */
const ICON_TEMPLATE = 2;

/** Side lengths of the drawn icons, in pixels: for iOS, and for the web manifest. */
const TOUCH_SIDE = 180;
const MANIFEST_SIDES = [192, 512] as const;

/** A paper's icon: its own picture, or one drawn in the paper's hue. `id` is part of the names of drawn files. */
function iconOf(edition: Edition): { id: string; svg: string | null; media: Media | null } {
  const { icon, hue } = edition.paper();
  const found = icon === undefined ? null : edition.media(icon);
  const media = found?.missing ? null : found;
  const svg = media === null ? defaultIcon(hue) : null;
  return { id: sha256(`${ICON_TEMPLATE} ${media?.digest ?? svg}`).slice(7, 23), svg, media };
}

export function iconViews(edition: Edition): Frame['paper']['icons'] {
  const { id, media } = iconOf(edition);
  const { base } = edition.site;
  return {
    ico_url: `${base}/icons/${id}.ico`,
    svg_url: media === null || media.media_type === 'image/svg+xml' ? `${base}/favicon.svg` : null,
    touch_url: `${base}/icons/${id}-${TOUCH_SIDE}.png`,
    manifest_url: `${base}/manifest.webmanifest`,
  };
}

/** The paper's logo for programs, or its largest icon if the logo has no known size or its file is missing. */
export function logoOf(edition: Edition): Logo {
  const { root } = edition.site;
  const { logo } = edition.paper();
  const src = typeof logo === 'string' ? logo : logo?.light;
  const { width = null, height = null, missing } = (src === undefined ? null : edition.media(src)) ?? {};
  if (src !== undefined && !missing && width !== null && height !== null)
    return { url: fileUrl(root, src), width, height };
  const side = Math.max(...MANIFEST_SIDES);
  return { url: fileUrl(root, `icons/${iconOf(edition).id}-${side}.png`), width: side, height: side };
}

/** The icons of the paper for browsers and home screens, and the web manifest that lists them. */
export const icons = singleOutput('icons', 'assets', (edition, { pictures }) => {
  const { id, svg, media } = iconOf(edition);
  const { nameplate, description, language, hue } = edition.paper();
  const { base } = edition.site;
  const source = async () => ({
    picture: media === null ? Buffer.from(svg ?? '') : await pictures.original(media),
    longest: media === null ? ICON_SIDE : Math.max(media.width ?? 0, media.height ?? 0),
    substitute: defaultIcon(hue),
  });
  const draw = (side: number, ground: boolean): RenderedFile => ({
    path: `icons/${id}-${side}.png`,
    draw: async () => (await import('../../../media/draw-icon.ts')).drawIcon(await source(), side, ground),
  });
  const manifest = {
    name: nameplate,
    ...(description === '' ? {} : { description }),
    lang: language,
    start_url: `${base}/`,
    scope: `${base}/`,
    display: 'minimal-ui',
    background_color: ICON_GROUND,
    theme_color: ICON_GROUND,
    icons: MANIFEST_SIDES.map((side) => ({
      src: `${base}/icons/${id}-${side}.png`,
      type: 'image/png',
      sizes: `${side}x${side}`,
    })),
  };
  const ico = `icons/${id}.ico`;
  return [
    media?.media_type === 'image/svg+xml'
      ? { path: 'favicon.svg', copy: media.digest }
      : { path: 'favicon.svg', body: defaultIcon(hue) },
    { path: ico, draw: async () => (await import('../../../media/draw-icon.ts')).drawIco(await source()) },
    { path: 'favicon.ico', same: ico },
    draw(TOUCH_SIDE, true),
    ...MANIFEST_SIDES.map((side) => draw(side, false)),
    { path: 'manifest.webmanifest', body: `${JSON.stringify(manifest)}\n` },
  ];
});
