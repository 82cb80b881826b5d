import type { Story } from '../../archive.ts';
import { CACHE_AGE, CARD_WIDTH_MAX, type CardSize, type OEmbed, playerSize } from '../../oembed.ts';
import { type Cast, castFile } from '../../papers/cast.ts';
import { storyUrl } from '../../story.ts';
import type { Edition } from '../edition.ts';
import { castImage } from '../outputs/day.ts';
import { shareImage } from '../outputs/story.ts';
import type { ShareImage } from '../views.ts';
import { element, escapeText, textElement, XML_DECLARATION } from './xml.ts';

/** The frame's permissions, if the consumer sets none itself, as WordPress does. Links open in the embedding page. */
const SANDBOX = 'allow-scripts allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation';

/** The size limits of the consumer in CSS pixels; null for no limit. */
export interface Bounds {
  maxwidth: number | null;
  maxheight: number | null;
}

/** What a record is about: the page that it links to, and the address of its frame. */
interface Subject extends Pick<OEmbed, 'type' | 'title'> {
  page: string;
  frame: string;
  author: Pick<OEmbed, 'author_name' | 'author_url'>;
  picture: Pick<ShareImage, 'absolute' | 'width' | 'height'>;
}

export function oembedRecord(edition: Edition, story: Story, size: CardSize, bounds: Bounds): OEmbed {
  const { root } = edition.site;
  return recordOf(edition, size, bounds, {
    type: 'rich',
    title: story.headline,
    page: storyUrl(root, story.slug),
    frame: `${root}/embed/${story.id}/`,
    author:
      story.writer === null
        ? { author_name: `${story.byline.name} (AI persona)`, author_url: `${root}/masthead/${story.persona}/` }
        : { author_name: story.writer, ...authorUrl(story) },
    picture: shareImage(edition, story),
  });
}

/** The first author's address. The record has room for only one. */
function authorUrl({ writers: [first, ...others] }: Story): { author_url?: string } {
  return first?.url === undefined || others.length > 0 ? {} : { author_url: first.url };
}

/** Height of a player for sound, with its poster and title above (layouts/player.css), in pixels. */
const AUDIO_HEIGHT = 190;

/** The oEmbed record of an edition: its player in the largest frame within the bounds. */
export function castRecord(edition: Edition, cast: Cast, bounds: Bounds): OEmbed {
  const { root } = edition.site;
  const page = `${root}/cast/${cast.day}/`;
  const isAudio = cast.audio !== undefined;
  const file = edition.media(castFile(cast));
  const [width, height] = [Math.min(bounds.maxwidth ?? Infinity, CARD_WIDTH_MAX), bounds.maxheight ?? Infinity];
  const size = isAudio
    ? { width, height: Math.min(height, AUDIO_HEIGHT) }
    : playerSize(width, height, { width: file?.width ?? 16, height: file?.height ?? 9 });
  return recordOf(edition, size, bounds, {
    // oEmbed has no type for audio.
    type: isAudio ? 'rich' : 'video',
    title: cast.title,
    page,
    frame: `${page}embed/`,
    author: { author_name: `${edition.paper().nameplate} (AI personas)`, author_url: `${root}/masthead/` },
    picture: castImage(edition, cast),
  });
}

/** WordPress accepts the blockquote only as the first element, and shows it until the card has reported its height. */
function recordOf(edition: Edition, size: CardSize, bounds: Bounds, subject: Subject): OEmbed {
  const { type, title, page, frame, author, picture } = subject;
  const { nameplate } = edition.paper();
  const attributes = {
    src: frame,
    sandbox: SANDBOX,
    width: size.width,
    height: size.height,
    title: `${title} — ${nameplate}`,
    frameborder: '0',
    loading: 'lazy',
    allow: type === 'video' ? 'fullscreen; picture-in-picture' : null,
  };
  return {
    type,
    version: '1.0',
    title,
    ...author,
    provider_name: nameplate,
    provider_url: `${edition.site.root}/`,
    cache_age: CACHE_AGE,
    html: `<blockquote>${element('a', { href: page }, escapeText(title))}</blockquote>${element('iframe', attributes, '')}`,
    ...size,
    ...thumbnail(picture, bounds),
  };
}

function thumbnail({ absolute, width, height }: Subject['picture'], { maxwidth, maxheight }: Bounds): Partial<OEmbed> {
  if (width === null || height === null) return {};
  if (width > (maxwidth ?? Infinity) || height > (maxheight ?? Infinity)) return {};
  return { thumbnail_url: absolute, thumbnail_width: width, thumbnail_height: height };
}

/** The record as XML (oembed.com, section 2.3.4.2). */
export function oembedXml(record: OEmbed): string {
  const members = Object.entries(record).map(([name, value]) => textElement(name, String(value)));
  return `${XML_DECLARATION}\n${element('oembed', {}, ...members)}\n`;
}
