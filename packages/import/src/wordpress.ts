import { escapeText } from './escape.ts';
import { attributesOf, replaced } from './shortcodes.ts';
import { shown } from './shown.ts';
import { NO_FILES, type Source, type SourceItem } from './source.ts';
import { childrenOf, textIn, textOf, type XmlRecord, xmlRecords } from './xml-records.ts';

/** The states of posts that are work in progress. Posts in any other unpublished state are not pieces. */
const DRAFTS: Record<string, string> = {
  draft: 'it is a draft',
  pending: 'it waits for review',
  private: 'it is private',
  future: 'it was scheduled, and never published',
};

/** An export of WordPress (WXR 1.0 to 1.2): RSS 2.0 with elements of its own. */
export function wordpressSource(file: string): Source {
  /** Display names of authors by login, and addresses of attachments by id. */
  let known: {
    title: string;
    url: string | null;
    authors: Map<string, string>;
    attachments: Map<string, string>;
  } | null = null;
  const site = async () => {
    if (known !== null) return known;
    const found = { title: '', url: null as string | null, authors: new Map(), attachments: new Map() };
    for await (const record of xmlRecords(file)) {
      if (record.name === 'title') found.title = textOf(record).trim();
      if (record.name === 'wp:base_blog_url' || (record.name === 'link' && found.url === null)) {
        found.url = textOf(record).trim() || null;
      }
      if (record.name === 'wp:author') {
        const login = textIn(record, 'wp:author_login');
        const named = `${textIn(record, 'wp:author_first_name')} ${textIn(record, 'wp:author_last_name')}`.trim();
        found.authors.set(login, textIn(record, 'wp:author_display_name') || named || login);
      }
      if (record.name === 'item' && textIn(record, 'wp:post_type') === 'attachment') {
        const url = textIn(record, 'wp:attachment_url');
        if (url !== '') found.attachments.set(textIn(record, 'wp:post_id'), url);
      }
    }
    known = found;
    return found;
  };
  return {
    system: 'WordPress',
    ...NO_FILES,
    site,
    async *items() {
      const { authors, attachments } = await site();
      for await (const record of xmlRecords(file)) {
        if (record.name !== 'item' || textIn(record, 'wp:post_type') === 'attachment') continue;
        yield itemOf(record, `${file}:${record.line}`, authors, attachments);
      }
    },
  };
}

function itemOf(
  record: XmlRecord,
  where: string,
  authors: Map<string, string>,
  attachments: Map<string, string>,
): SourceItem {
  const text = (name: string) => textIn(record, name);
  const of = { where, line: record.line, title: text('title') };
  const [type, status] = [text('wp:post_type') || 'post', text('wp:status') || 'publish'];
  if (type !== 'post') return { ...of, skipped: skippedType(type) };
  const draft = status === 'publish' ? null : DRAFTS[status];
  if (draft === undefined) return { ...of, skipped: `its status is ${shown(status)}` };
  if (record.isCut) return { ...of, problem: tooLong() };
  const isProtected = text('wp:post_password') !== '';
  const login = text('dc:creator');
  const terms = (domain: string) =>
    childrenOf(record, 'category')
      .filter(({ attributes }) => attributes.domain === domain)
      .map((term) => textOf(term).trim());
  const meta = new Map(
    childrenOf(record, 'wp:postmeta').map((entry) => [textIn(entry, 'wp:meta_key'), textIn(entry, 'wp:meta_value')]),
  );
  const thumbnail = attachments.get(meta.get('_thumbnail_id') ?? '');
  const html = text('content:encoded');
  return {
    ...of,
    piece: {
      slug: text('wp:post_name'),
      headline: of.title,
      dek: text('excerpt:encoded'),
      categories: terms('category'),
      tags: [...terms('post_tag'), ...terms('tag')],
      authors: login === '' ? [] : [authors.get(login) ?? login],
      published_at: timeOf(text('wp:post_date_gmt')) ?? timeOf(text('wp:post_date')) ?? (text('pubDate') || null),
      draft: isProtected ? 'it has a password' : draft,
      body: { html: withoutShortcodes(html, attachments), isAutop: !html.includes('<!-- wp:') },
      image: thumbnail === undefined ? null : { src: thumbnail, alt: '', credit: null },
      origin: text('link') || null,
      aliases: [],
      language: null,
      original: (classes) => attachments.get(/\bwp-image-(\d{1,18})\b/.exec(classes)?.[1] ?? '') ?? null,
    },
  };
}

function skippedType(type: string): string {
  return type === 'page'
    ? 'it is a page; write it as a file of pages/ if the paper needs it'
    : `it is of the type ${shown(type)}, not a post`;
}

export const tooLong = () => ({ field: 'prose', message: 'the piece is longer than 16 MB; split it' });

/** A time as WordPress writes it, `2019-05-20 10:00:00`, in UTC; null for a draft's `0000-00-00 00:00:00`. */
function timeOf(text: string): string | null {
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/.exec(text) ?? [];
  return day === undefined || day === '0000-00-00' ? null : `${day}T${time}Z`;
}

/** Converts WordPress' own shortcodes to HTML. Shortcodes of plugins stay as text. */
function withoutShortcodes(html: string, attachments: Map<string, string>): string {
  return replaced(html, '[', ']', (inner) => {
    const [, slash, name = ''] = /^(\/?)([a-z]+)(?=[\s\]/]|$)/.exec(inner) ?? [];
    if (name === 'caption') return slash ? '</figure>' : '<figure>';
    if (name === 'embed' || (slash && PLAYERS.has(name))) return '\n\n';
    const attributes = attributesOf(inner);
    if (name === 'gallery') {
      const pictures = (attributes.get('ids') ?? '').split(',').flatMap((id) => attachments.get(id.trim()) ?? []);
      return pictures.map((src) => `<p><img src="${escapeText(src)}" alt=""></p>`).join('');
    }
    if (!PLAYERS.has(name)) return null;
    const url = SOURCES.map((key) => attributes.get(key)).find((value) => value !== undefined);
    return url === undefined ? '' : `<${name} src="${escapeText(url)}"></${name}>`;
  });
}

const PLAYERS = new Set(['audio', 'video']);
const SOURCES = ['src', 'mp3', 'm4a', 'ogg', 'wav', 'mp4', 'm4v', 'webm', 'ogv'];
