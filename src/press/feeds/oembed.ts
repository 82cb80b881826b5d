import type { Story } from '../../desk/archive.ts';
import type { CardSize } from '../../desk/embed-card.ts';
import type { OEmbed } from '../../desk/oembed.ts';
import { CACHE_AGE } from '../../desk/oembed.ts';
import { storyUrl } from '../../desk/story.ts';
import type { Edition } from '../edition.ts';
import { shareImage } from '../sheets/story.ts';
import { element, escapeText, textElement, XML_DECLARATION } from './xml.ts';

/** What the frame may do where nobody makes it stricter, as WordPress does: the card's links open in the page around it. */
const SANDBOX = 'allow-scripts allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation';

/** What a consumer asked for; null where it set no bound. In CSS pixels. */
export interface Bounds {
  maxwidth: number | null;
  maxheight: number | null;
}

/** The oEmbed record of a story on air, its card in a frame of a size. */
export function oembedRecord(edition: Edition, story: Story, size: CardSize, bounds: Bounds): OEmbed {
  const { nameplate } = edition.paper();
  const { root } = edition.place;
  return {
    type: 'rich',
    version: '1.0',
    title: story.headline,
    author_name: `${story.byline.name} (AI persona)`,
    author_url: `${root}/masthead/${story.persona}/`,
    provider_name: nameplate,
    provider_url: `${root}/`,
    cache_age: CACHE_AGE,
    html: frameHtml(root, story, nameplate, size),
    ...size,
    ...thumbnail(edition, story, bounds),
  };
}

/** The record as XML (oembed.com, section 2.3.4.2). */
export function oembedXml(record: OEmbed): string {
  const members = Object.entries(record).map(([name, value]) => textElement(name, String(value)));
  return `${XML_DECLARATION}\n${element('oembed', {}, ...members)}\n`;
}

/** WordPress takes the blockquote only when nothing stands before it, and shows it until the card has told its height. */
function frameHtml(root: string, story: Story, nameplate: string, { width, height }: CardSize): string {
  const page = storyUrl(root, story.slug);
  const frame = element(
    'iframe',
    {
      src: `${root}/embed/${story.id}/`,
      sandbox: SANDBOX,
      width,
      height,
      title: `${story.headline} — ${nameplate}`,
      frameborder: '0',
      loading: 'lazy',
    },
    '',
  );
  return `<blockquote>${element('a', { href: page }, escapeText(story.headline))}</blockquote>${frame}`;
}

/** The picture of a preview, unless it is larger than was asked for. */
function thumbnail(edition: Edition, story: Story, { maxwidth, maxheight }: Bounds): Partial<OEmbed> {
  const { absolute, width, height } = shareImage(edition, story);
  if (width === null || height === null) return {};
  if (width > (maxwidth ?? Infinity) || height > (maxheight ?? Infinity)) return {};
  return { thumbnail_url: absolute, thumbnail_width: width, thumbnail_height: height };
}
