import { ArchiveError } from './archive-error.ts';
import { escapeText } from './escape.ts';
import { NO_FILES, type Source, type SourceItem } from './source.ts';
import { tooLong } from './wordpress.ts';
import { childrenOf, markupOf, textIn, textOf, type XmlElement, type XmlRecord, xmlRecords } from './xml-records.ts';

/** A feed, RSS 0.9 to 2.0 or Atom 1.0. Feeds seldom have more than the newest pieces of a site. */
export function feedSource(file: string): Source {
  return {
    system: 'feed',
    ...NO_FILES,
    /** Reads the whole file, so that damage is found before any piece of it is filed. */
    async site() {
      const found = { title: '', url: null as string | null };
      for await (const record of xmlRecords(file)) {
        if (record.name === 'title') found.title = plainText(record);
        if (record.name === 'link') found.url ??= addressIn(record);
      }
      return found;
    },
    async *items() {
      for await (const record of xmlRecords(file)) {
        if (record.name === 'item') yield rssItem(record, `${file}:${record.line}`);
        if (record.name === 'entry') yield atomEntry(record, `${file}:${record.line}`);
      }
    },
  };
}

function rssItem(record: XmlRecord, where: string): SourceItem {
  const text = (name: string) => textIn(record, name);
  const of = { where, line: record.line, title: text('title') };
  if (record.isCut) return { ...of, problem: tooLong() };
  const guid = text('guid');
  const link = text('link') || (/^https?:\/\//.test(guid) ? guid : '');
  const [content, description] = [text('content:encoded'), text('description')];
  const authors = [...childrenOf(record, 'dc:creator').map(textOf), ...childrenOf(record, 'author').map(rssAuthor)];
  const enclosed = (kind: string) =>
    childrenOf(record, 'enclosure').find(
      ({ attributes: { type = '', url = '' } }) => url !== '' && type.startsWith(kind),
    );
  const enclosure = enclosed('image/');
  const sound = enclosed('audio/')?.attributes.url;
  const player = sound === undefined ? '' : `<audio src="${escapeText(sound)}"></audio>`;
  return {
    ...of,
    piece: {
      ...pieceOf(link, of.title),
      dek: content === '' ? '' : description,
      categories: childrenOf(record, 'category').map((one) => textOf(one).trim()),
      authors: authors.map((name) => name.trim()).filter((name) => name !== ''),
      published_at: text('pubDate') || text('dc:date') || null,
      body: { html: player + (content || description) },
      image: enclosure === undefined ? null : { src: enclosure.attributes.url ?? '', alt: '', credit: null },
      language: text('dc:language') || null,
    },
  };
}

/** `mail@example.org (Ann Lee)`, as RSS asks for it, or a name. */
function rssAuthor(element: XmlElement): string {
  const text = textOf(element).trim();
  return /\(([^()]*)\)\s*$/.exec(text)?.[1] ?? (text.includes('@') ? '' : text);
}

function atomEntry(record: XmlRecord, where: string): SourceItem {
  const of = { where, line: record.line, title: htmlIn(record, 'title') };
  if (record.isCut) return { ...of, problem: tooLong() };
  const link = childrenOf(record, 'link').find(({ attributes: { rel = 'alternate' } }) => rel === 'alternate');
  const content = htmlIn(record, 'content');
  const summary = htmlIn(record, 'summary');
  return {
    ...of,
    piece: {
      ...pieceOf(link?.attributes.href ?? '', of.title),
      dek: content === '' ? '' : summary,
      categories: childrenOf(record, 'category').map(({ attributes: { label, term = '' } }) => label || term),
      authors: childrenOf(record, 'author').map((author) => textIn(author, 'name')),
      published_at: textIn(record, 'published') || textIn(record, 'updated') || null,
      body: { html: content || summary },
      image: null,
      language: record.attributes['xml:lang'] ?? null,
    },
  };
}

function pieceOf(link: string, headline: string) {
  const path = URL.parse(link)?.pathname ?? '';
  const slug = path.split('/').findLast((segment) => segment !== '' && !/^index\./.test(segment)) ?? '';
  return { slug: slug.replace(/\.\w{1,5}$/, ''), headline, tags: [], draft: null, origin: link || null, aliases: [] };
}

/** The content of a text construct of Atom (RFC 4287, section 3.1) as HTML. */
function htmlIn(record: XmlElement, name: string): string {
  const [element] = childrenOf(record, name);
  if (element === undefined) return '';
  const { type = 'text' } = element.attributes;
  if (type === 'xhtml' || type === 'application/xhtml+xml') return markupOf(element);
  const text = textOf(element);
  return type === 'html' || type === 'text/html' ? text : text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

const plainText = (element: XmlElement): string => textOf(element).trim();

/** The address in a `link` of a channel: its text in RSS, an attribute in Atom. */
function addressIn({ attributes, ...rest }: XmlElement): string | null {
  const { rel = 'alternate', href } = attributes;
  if (href !== undefined) return rel === 'alternate' ? href : null;
  return textOf({ attributes, ...rest }).trim() || null;
}

/** Throws `ArchiveError` for XML that is neither a feed nor an export of WordPress. */
export async function xmlSystem(file: string): Promise<'wordpress' | 'feed'> {
  for await (const record of xmlRecords(file)) {
    if (record.name === 'wp:wxr_version' || record.name === 'wp:author' || record.name === 'wp:category')
      return 'wordpress';
    if (record.name === 'item')
      return record.content.some((child) => typeof child !== 'string' && child.name === 'wp:post_id')
        ? 'wordpress'
        : 'feed';
    if (record.name === 'entry') return 'feed';
  }
  throw new ArchiveError(`${file} has no items; give an export of WordPress, or an RSS or Atom feed`);
}
