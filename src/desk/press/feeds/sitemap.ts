import { isoTime } from '../../../proof/time.ts';
import type { Row } from '../../archive.ts';
import { storyUrl } from '../../story.ts';
import type { Channel } from './channel.ts';
import { element, escapeText, textElement, XML_DECLARATION } from './xml.ts';

/** The maximum number of addresses in one sitemap (sitemaps.org). */
export const SITEMAP_URLS_MAX = 50_000;

const NAMESPACE = 'http://www.sitemaps.org/schemas/sitemap/0.9';

/** A sitemap index (sitemaps.org 0.9). Paths are relative to the root. */
export function sitemapIndex(root: string, paths: readonly string[]): string {
  const rows = paths.map((path) => `<sitemap><loc>${escapeText(`${root}/${path}`)}</loc></sitemap>\n`);
  return `${XML_DECLARATION}\n<sitemapindex xmlns="${NAMESPACE}">\n${rows.join('')}</sitemapindex>\n`;
}

/** One sitemap (sitemaps.org 0.9). Paths are relative to the root, times in ms. */
export function sitemapShard(root: string, urls: readonly { path: string; updated_at?: number }[]): string {
  if (urls.length > SITEMAP_URLS_MAX) {
    throw new RangeError(`a sitemap holds ${SITEMAP_URLS_MAX} addresses at most, not ${urls.length}; split it`);
  }
  const rows = urls.map(({ path, updated_at }) => {
    const lastmod = updated_at === undefined ? '' : `<lastmod>${isoTime(updated_at)}</lastmod>`;
    return `<url><loc>${escapeText(`${root}/${path}`)}</loc>${lastmod}</url>\n`;
  });
  return `${XML_DECLARATION}\n<urlset xmlns="${NAMESPACE}">\n${rows.join('')}</urlset>\n`;
}

/** The maximum number of pieces in a news sitemap (Google). */
export const NEWS_MAX = 1_000;

/** A Google News sitemap of the pieces of the last 48 hours, newest first. The list may be empty. */
export function newsSitemap({ paper, root }: Channel, rows: readonly Row[]): string {
  const urls = rows
    .slice(0, NEWS_MAX)
    .map(
      (row) =>
        `${element(
          'url',
          {},
          textElement('loc', storyUrl(root, row.slug)),
          element(
            'news:news',
            {},
            element(
              'news:publication',
              {},
              textElement('news:name', paper.nameplate),
              textElement('news:language', newsLanguage(row.language)),
            ),
            textElement('news:publication_date', isoTime(row.published_at)),
            textElement('news:title', row.headline),
          ),
        )}\n`,
    );
  return `${XML_DECLARATION}
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">
${urls.join('')}</urlset>
`;
}

/** A language code for Google News: ISO 639, except `zh-cn` or `zh-tw` for Chinese, by script. */
export function newsLanguage(tag: string): string {
  const subtags = tag.toLowerCase().split('-');
  if (subtags[0] !== 'zh') return subtags[0] ?? tag;
  return subtags.some((subtag) => ['hant', 'tw', 'hk', 'mo'].includes(subtag)) ? 'zh-tw' : 'zh-cn';
}
