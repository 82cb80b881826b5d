import { type Enclosure, type Extension, Feed } from 'feed';
import { CARD_HEIGHT, CARD_WIDTH } from '../../../media/card/card.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { storyUrl } from '../../story.ts';
import type { CorrectionsView } from '../views.ts';
import {
  authorName,
  type Channel,
  channelDescription,
  declared,
  type FeedItem,
  ITEM_NAMESPACE,
  itemUrn,
  uuid5,
} from './channel.ts';
import { feedHtml } from './feed-html.ts';
import { cleanText, escapeText } from './xml.ts';

const TTL_MINUTES = 60;

const MEDIA_RSS = 'http://search.yahoo.com/mrss/';

export interface RssOptions {
  /** Path of this file under the paper's root: `rss.xml`, or `sections/time/rss.xml`. */
  path: string;
  /** The list that the feed covers, if not the whole paper: its name, and the path of its page under the root. */
  list?: { name: string; path: string };
}

/**
 * RSS 2.0 with full text in `content:encoded`. `lastBuildDate` is the newest change, so that the bytes do not depend on
 * the current time.
 */
export function rss(channel: Channel, items: readonly FeedItem[], options: RssOptions): string {
  const { paper, root } = channel;
  const changed = items.length === 0 ? null : Math.max(...items.map(({ updated_at }) => updated_at));
  const feed = feedOf(channel, changed, options);
  for (const item of items) {
    const html = feedHtml(channel, item);
    feed.addItem({
      title: item.headline,
      link: storyUrl(root, item.slug),
      guid: itemUrn(item.id),
      date: new Date(item.published_at),
      description: item.dek,
      content: html,
      category: [item.category, ...item.tags].map((name) => ({ name: text(name) })),
      ...(item.image_bytes === null ? {} : { image: enclosure(item, item.image_bytes) }),
      extensions: [
        { name: 'title', objects: { _text: text(item.headline) } },
        ...(item.dek === '' ? [] : [{ name: 'description', objects: { _text: text(escapeText(item.dek)) } }]),
        { name: 'content:encoded', objects: { _cdata: cdata(html) } },
        ...(item.image_bytes === null ? [mediaContent(item)] : []),
        ...signatures(channel, item),
        ...(item.language === paper.language ? [] : [{ name: 'dc:language', objects: { _text: item.language } }]),
      ],
    });
  }
  return xmlOf(feed, changed);
}

/** A feed of corrections, withdrawals and retractions, newest first. Another correction of a piece is another item. */
export function correctionsRss(channel: Channel, rows: CorrectionsView['rows'], path: string): string {
  const { paper, root } = channel;
  const { corrections, fact, page, withdrawn } = phrasesOf(paper.language);
  const words = {
    ...{ correction: corrections.corrected, corrected: corrections.corrected },
    ...{ withdrawal: corrections.withdrawn, retracted: fact.retracted },
  };
  const changed = rows[0] === undefined ? null : Date.parse(rows[0].at);
  const list = { name: page.corrections, path: path.slice(0, path.lastIndexOf('/') + 1) };
  const feed = feedOf(channel, changed, { path, list });
  for (const { at, kind, note, piece } of rows) {
    const link = piece?.url ?? `${root}/${list.path}`;
    const title = `${words[kind]}: ${piece?.headline ?? withdrawn.withheld}`;
    feed.addItem({
      title,
      link,
      guid: `urn:uuid:${uuid5(ITEM_NAMESPACE, `${kind} ${link} ${at}`)}`,
      date: new Date(at),
      extensions: [
        { name: 'title', objects: { _text: text(title) } },
        ...(note === '' ? [] : [{ name: 'description', objects: { _text: text(escapeText(note)) } }]),
      ],
    });
  }
  return xmlOf(feed, changed);
}

function feedOf(channel: Channel, changed: number | null, { path, list }: RssOptions): Feed {
  const { paper, root } = channel;
  return new Feed({
    title: text(list === undefined ? paper.nameplate : `${paper.nameplate}: ${list.name}`),
    link: `${root}/${list?.path ?? ''}`,
    description: text(channelDescription(channel)),
    language: paper.language,
    updated: new Date(changed ?? 0),
    feed: `${root}/${path}`,
    ...(channel.hub == null ? {} : { hub: channel.hub }),
    docs: 'https://www.rssboard.org/rss-specification',
    generator: 'Broadsheet',
    ttl: TTL_MINUTES,
  });
}

function xmlOf(feed: Feed, changed: number | null): string {
  const xml = feed.rss2().replace('<rss ', `<rss xmlns:media="${MEDIA_RSS}" `);
  return `${changed === null ? xml.replace(/\s*<lastBuildDate>[^<]*<\/lastBuildDate>/, '') : xml}\n`;
}

/** The people who wrote the piece, one element each, and the persona that brought it in, as a declared contributor. */
function signatures(channel: Channel, { byline, writers }: FeedItem): Extension[] {
  const persona = { _text: text(authorName(declared(channel, byline.name))) };
  if (writers.length === 0) return [{ name: 'dc:creator', objects: persona }];
  const creators = writers.map(({ name }) => ({ _text: text(authorName(name)) }));
  return [
    // The serializer writes one element for each; its types only allow a single one.
    { name: 'dc:creator', objects: creators as unknown as Extension['objects'] },
    { name: 'dc:contributor', objects: persona },
  ];
}

/** The piece's own art. RSS requires a length, which is known for media files. */
function enclosure({ image_url, image_type }: FeedItem, length: number): Enclosure {
  return { url: image_url, type: image_type, length };
}

/** A large press draws share cards after the feed, so their length is unknown. Media RSS does not require a length. */
function mediaContent({ image_url, image_type }: FeedItem): Extension {
  const _attributes = { url: image_url, type: image_type, medium: 'image', width: CARD_WIDTH, height: CARD_HEIGHT };
  return { name: 'media:content', objects: { _attributes } };
}

/** Prepares a text for feed 6, which takes `&amp;` for an escaped ampersand and passes on what XML forbids. */
function text(value: string): string {
  return cleanText(value).replaceAll('&', '&amp;');
}

/** HTML as CDATA sections without `]]>`, because feed 6 would split only at the first one. */
function cdata(html: string): string[] {
  const parts = cleanText(html).split(']]>');
  return parts.map((part, index) => `${index === 0 ? '' : '>'}${part}${index === parts.length - 1 ? '' : ']]'}`);
}
