import { fill, partsOf } from '../../../phrases/fill.ts';
import type { Phrases } from '../../../phrases/phrases.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { dayOf } from '../../../proof/time.ts';
import { writerLine } from '../../door/writers.ts';
import { type CitedFactRow, citedFactRows, storyUrl } from '../../story.ts';
import { type Channel, declared, type FeedItem, fileUrl, webAddress } from './channel.ts';
import { escapeText as escapeHtml } from './xml.ts';

/** The attributes that feed readers keep. */
const KEPT = new Set('alt cite colspan dir href lang rowspan src start title type value'.split(' '));
const ADDRESSES = new Set(['cite', 'href', 'src']);

const TAG = /<([a-z][a-z0-9-]*)(\s[^<>]*)?>/gi;
/** A note's links back to the text, which would lead away from the feed reader. */
const BACK = /&nbsp;<a class="back"[^<>]*>[^<>]*<\/a>/g;
const ATTRIBUTE = /([a-z][a-z0-9:-]*)\s*=\s*"([^"]*)"/gi;
const ENTITY: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** The content that was made of each item, and for which paper: feeds share items. */
const known = new WeakMap<FeedItem, Pick<Channel, 'paper' | 'root'> & { html: string }>();

/**
 * The content of a feed item: prose, corrections, sources, credit and AI label. Addresses are absolute. Omits ids,
 * which could clash with those of the feed reader's page.
 */
export function feedHtml(channel: Channel, item: FeedItem): string {
  const { paper, root } = channel;
  const made = known.get(item);
  if (made?.paper === paper && made.root === root) return made.html;
  const html = contentOf(channel, item);
  known.set(item, { paper, root, html });
  return html;
}

function contentOf(channel: Channel, item: FeedItem): string {
  const { paper, root } = channel;
  const { page, story, feed, fact } = phrasesOf(paper.language);
  const parts = [
    ...(item.provenance === null ? [] : [`<p><em>${escapeHtml(story.archive)}</em></p>`]),
    `<div lang="${escapeHtml(item.language)}" dir="auto">${figure(item, root)}${standalone(item.html, root, item.slug)}</div>`,
  ];
  if (item.corrections.length > 0) {
    const lines = item.corrections.map(({ at, note }) => `<li>${dayOf(at)}: ${escapeHtml(note)}</li>`);
    parts.push(`<h2>${escapeHtml(page.corrections)}</h2><ul>${lines.join('')}</ul>`);
  }
  if (item.cited_facts.length > 0) {
    parts.push(
      `<h2>${escapeHtml(story.sources_title)}</h2><ol>${citedFactRows(item, { root, republishes: false })
        .map((row) => source(row, fact))
        .join('')}</ol>`,
    );
  }
  if (item.credit !== null) parts.push(`<p dir="auto">${escapeHtml(item.credit)}</p>`);
  parts.push(
    `<p>${escapeHtml(signature(channel, item))} <a href="${escapeHtml(`${root}/standards/`)}">${escapeHtml(fill(feed.how, { paper: paper.nameplate }))}</a>.</p>`,
  );
  return parts.join('\n');
}

/** The byline of the piece: the persona, or the people whose text the persona brought in. */
function signature(channel: Channel, { byline, writers }: FeedItem): string {
  const writer = writerLine(writers, channel.paper.language);
  const { by, written } = phrasesOf(channel.paper.language).feed;
  const persona = `${declared(channel, byline.name)}${byline.title && `, ${byline.title}`}`;
  return writer === null ? fill(by, { writer: persona }) : fill(written, { writer, persona });
}

/** The piece's own art. A share card would only repeat the headline. */
function figure(item: FeedItem, root: string): string {
  if (item.image === null) return '';
  const { src, alt, credit } = item.image;
  const caption = credit === null ? '' : `<figcaption>${escapeHtml(credit)}</figcaption>`;
  return `<figure><img src="${escapeHtml(fileUrl(root, src))}" alt="${escapeHtml(alt)}">${caption}</figure>\n`;
}

function source(row: CitedFactRow, { since_corrected, since_retracted }: Phrases['fact']): string {
  const { n, statement, source: publisher, instrument, fact_status, fact_url = '' } = row;
  const address = webAddress(instrument);
  const document = escapeHtml(instrument);
  const link = address === null ? document : `<a href="${escapeHtml(address)}">${document}</a>`;
  const since = fact_status === undefined ? '' : fact_status === 'retracted' ? since_retracted : since_corrected;
  const change = partsOf(since).map((part) =>
    typeof part === 'string' ? escapeHtml(part) : `<a href="${escapeHtml(fact_url)}">${escapeHtml(part.words)}</a>`,
  );
  const said = `${escapeHtml(statement)} — ${escapeHtml(publisher)}, ${link}`;
  return `<li value="${n}" dir="auto">${[said, change.join('')].filter(Boolean).join('. ')}</li>`;
}

/** Rendered prose with absolute addresses, without the attributes that only the site's pages need. */
function standalone(html: string, root: string, slug: string): string {
  return html.replace(BACK, '').replace(TAG, (_tag, name: string, attributes: string | undefined) => {
    let kept = '';
    for (const [, key = '', value = ''] of (attributes ?? '').matchAll(ATTRIBUTE)) {
      const attribute = key.toLowerCase();
      if (!KEPT.has(attribute)) continue;
      if (!ADDRESSES.has(attribute)) kept += ` ${attribute}="${value}"`;
      else {
        const address = absolute(value, root, slug);
        if (address !== null) kept += ` ${attribute}="${escapeHtml(address)}"`;
      }
    }
    return `<${name}${kept}>`;
  });
}

/** The absolute form of an address in a story's HTML; null for a target that a feed must not link to. */
function absolute(value: string, root: string, slug: string): string | null {
  const text = value.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITY[entity] ?? entity);
  const base = text.startsWith('media/') ? `${root}/` : storyUrl(root, slug);
  const url = URL.parse(text, base);
  return url !== null && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : null;
}
