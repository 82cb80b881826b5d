import type { Story } from '../../archive.ts';
import { CACHE_AGE, CARD_WIDTH_MAX, type CardSize, type OEmbed, playerSize } from '../../oembed.ts';
import type { Cast } from '../../papers/cast.ts';
import { storyUrl } from '../../story.ts';
import type { Edition } from '../edition.ts';
import { shareImage } from '../outputs/story.ts';
import type { ShareImage } from '../views.ts';
import { fileUrl } from './channel.ts';
import { element, escapeText, textElement, XML_DECLARATION } from './xml.ts';

/** The frame's permissions, unless the consumer restricts it as WordPress does. Links open in the embedding page. */
const SANDBOX = 'allow-scripts allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation';

/** The size limits of the consumer in CSS pixels; null for no limit. */
export interface Bounds {
  maxwidth: number | null;
  maxheight: number | null;
}

export function oembedRecord(edition: Edition, story: Story, size: CardSize, bounds: Bounds): OEmbed {
  const { nameplate } = edition.paper();
  const { root } = edition.site;
  const page = storyUrl(root, story.slug);
  return {
    type: 'rich',
    version: '1.0',
    title: story.headline,
    ...(story.writer === null
      ? { author_name: `${story.byline.name} (AI persona)`, author_url: `${root}/masthead/${story.persona}/` }
      : { author_name: story.writer, ...authorUrl(story) }),
    provider_name: nameplate,
    provider_url: `${root}/`,
    cache_age: CACHE_AGE,
    html: frameHtml({ page, frame: `${root}/embed/${story.id}/`, title: story.headline, nameplate }, size),
    ...size,
    ...thumbnail(shareImage(edition, story), bounds),
  };
}

/** The record has room for one address. */
function authorUrl({ writers: [first, ...others] }: Story): { author_url?: string } {
  return first?.url === undefined || others.length > 0 ? {} : { author_url: first.url };
}

/** The oEmbed record of a video edition: its player in the largest frame within the bounds. */
export function castRecord(edition: Edition, cast: Cast, bounds: Bounds): OEmbed {
  const { nameplate } = edition.paper();
  const { root } = edition.site;
  const page = `${root}/cast/${cast.day}/`;
  const [video, poster] = [edition.media(cast.video), edition.media(cast.poster)];
  const size = playerSize(Math.min(bounds.maxwidth ?? Infinity, CARD_WIDTH_MAX), bounds.maxheight ?? Infinity, {
    width: video?.width ?? 16,
    height: video?.height ?? 9,
  });
  return {
    type: 'video',
    version: '1.0',
    title: cast.title,
    author_name: `${nameplate} (AI personas)`,
    author_url: `${root}/masthead/`,
    provider_name: nameplate,
    provider_url: `${root}/`,
    cache_age: CACHE_AGE,
    html: frameHtml({ page, frame: `${page}embed/`, title: cast.title, nameplate, isVideo: true }, size),
    ...size,
    ...thumbnail(
      { absolute: fileUrl(root, cast.poster), width: poster?.width ?? null, height: poster?.height ?? null },
      bounds,
    ),
  };
}

/** The record as XML (oembed.com, section 2.3.4.2). */
export function oembedXml(record: OEmbed): string {
  const members = Object.entries(record).map(([name, value]) => textElement(name, String(value)));
  return `${XML_DECLARATION}\n${element('oembed', {}, ...members)}\n`;
}

/** WordPress accepts the blockquote only as the first element, and shows it until the card has reported its height. */
function frameHtml({ page, frame, title, nameplate, isVideo = false }: Framed, { width, height }: CardSize): string {
  const iframe = element(
    'iframe',
    {
      src: frame,
      sandbox: SANDBOX,
      width,
      height,
      title: `${title} — ${nameplate}`,
      frameborder: '0',
      loading: 'lazy',
      allow: isVideo ? 'fullscreen; picture-in-picture' : null,
    },
    '',
  );
  return `<blockquote>${element('a', { href: page }, escapeText(title))}</blockquote>${iframe}`;
}

/** A frame's content: the page that it links to, its own address and its title. */
interface Framed {
  page: string;
  frame: string;
  title: string;
  nameplate: string;
  isVideo?: boolean;
}

function thumbnail(
  { absolute, width, height }: Pick<ShareImage, 'absolute' | 'width' | 'height'>,
  { maxwidth, maxheight }: Bounds,
): Partial<OEmbed> {
  if (width === null || height === null) return {};
  if (width > (maxwidth ?? Infinity) || height > (maxheight ?? Infinity)) return {};
  return { thumbnail_url: absolute, thumbnail_width: width, thumbnail_height: height };
}
