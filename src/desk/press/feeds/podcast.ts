import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { type Cast, castFile, chaptersOf, hasAudio } from '../../papers/cast.ts';
import type { Chapter } from '../../papers/media.ts';
import { contactMail } from '../../papers/paper.ts';
import { authorName, type Channel, channelDescription, disclosure, fileUrl, itemUrn, uuid5 } from './channel.ts';
import { element, textElement, XML_DECLARATION } from './xml.ts';

/** Namespace of `podcast:guid`, fixed by the podcast namespace specification. */
const PODCAST_NAMESPACE = 'ead4c236-bf58-58c6-a2c6-a6b28d128cb6';

/** The only cover formats that Apple accepts. */
const COVER = /\.(?:jpe?g|png)$/i;

export interface PodcastOptions {
  /** Absolute address of a square JPEG or PNG of 1400 to 3000 pixels. */
  cover_url: string;
  /** Identifies the paper when its address changes; for example the thumbprint of its first signing key. */
  identity: string;
}

/**
 * An RSS 2.0 podcast feed following PSP-1. Not written with the package feed 6, which cannot declare namespaces and
 * writes `itunes:category` as text.
 */
export function podcast(channel: Channel, casts: readonly Cast[], options: PodcastOptions): string {
  const { paper, root } = channel;
  const self = `${root}/podcast.xml`;
  const author = fill(phrasesOf(paper.language).byline.declared_all, { paper: paper.nameplate });
  const lines = [
    textElement('title', paper.nameplate),
    textElement('description', channelDescription(channel)),
    textElement('link', `${root}/cast/`),
    textElement('language', paper.language),
    element('atom:link', { href: self, rel: 'self', type: 'application/rss+xml' }),
    ...(channel.hub == null ? [] : [element('atom:link', { href: channel.hub, rel: 'hub' })]),
    element('itunes:category', { text: 'News' }, element('itunes:category', { text: 'Daily News' })),
    textElement('itunes:explicit', 'false'),
    element('itunes:image', { href: options.cover_url }),
    textElement('itunes:author', authorName(author)),
    textElement('itunes:type', 'episodic'),
    element('podcast:locked', { owner: contactMail(paper) ?? null }, 'yes'),
    textElement('podcast:guid', podcastGuid(self)),
    textElement('podcast:medium', hasAudio(casts) ? 'podcast' : 'video'),
    textElement('generator', 'Broadsheet'),
    ...casts.map((cast) => episode(channel, cast, options)),
  ];
  return `${XML_DECLARATION}
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0">
<channel>
${lines.join('\n')}
</channel>
</rss>
`;
}

/** The UUIDv5 of a feed's address without its scheme and trailing slashes (podcast namespace, `guid`). */
export function podcastGuid(feedUrl: string): string {
  return uuid5(PODCAST_NAMESPACE, feedUrl.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/\/+$/, ''));
}

/** One edition as an episode, dated midnight UTC of its day. */
function episode(channel: Channel, cast: Cast, { cover_url, identity }: PodcastOptions): string {
  const { paper, root } = channel;
  const { poster = '' } = cast;
  const lines = [
    textElement('title', cast.title),
    textElement('link', `${root}/cast/${cast.day}/`),
    element('guid', { isPermaLink: 'false' }, itemUrn(`${identity}/${paper.slug}/cast/${cast.day}`)),
    textElement('pubDate', new Date(`${cast.day}T00:00:00Z`).toUTCString()),
    textElement('description', `${cast.description} ${disclosure(channel)}`.trim()),
    element('enclosure', { url: fileUrl(root, castFile(cast)), length: cast.bytes, type: enclosureType(cast) }),
    textElement('itunes:duration', String(Math.round(cast.duration_s))),
    element('itunes:image', { href: COVER.test(poster) ? fileUrl(root, poster) : cover_url }),
    textElement('itunes:explicit', 'false'),
  ];
  const captions = cast.transcript ?? cast.captions;
  if (captions !== null) {
    const transcript = { url: fileUrl(root, captions), type: 'text/vtt', language: paper.language, rel: 'captions' };
    lines.push(element('podcast:transcript', transcript));
  }
  if (chaptersOf(cast).length > 0) {
    const chapters = { url: `${root}/cast/${cast.day}/${CHAPTERS_FILE}`, type: CHAPTERS_TYPE };
    lines.push(element('podcast:chapters', chapters));
  }
  return `<item>\n${lines.join('\n')}\n</item>`;
}

/** Apple Podcasts recognizes M4A only by this type. */
const enclosureType = ({ media_type }: Cast): string => (media_type === 'audio/mp4' ? 'audio/x-m4a' : media_type);

/** The name of the chapters file, in the folder of the edition's page. */
export const CHAPTERS_FILE = 'chapters.json';
/** The type of the podcast namespace's JSON chapters. */
export const CHAPTERS_TYPE = 'application/json+chapters';

/** Chapters in the JSON format of the podcast namespace, version 1.2. */
export function chaptersJson(chapters: readonly Chapter[]): string {
  const listed = chapters.map(({ time, title }) => ({ startTime: time, title }));
  return `${JSON.stringify({ version: '1.2.0', chapters: listed })}\n`;
}
