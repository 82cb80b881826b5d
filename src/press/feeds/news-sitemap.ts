import type { Row } from '../../desk/archive.ts';
import { storyUrl } from '../../desk/story.ts';
import { isoTime } from '../../time.ts';
import type { Channel } from './channel.ts';
import { element, textElement, XML_DECLARATION } from './xml.ts';

/** The maximum number of pieces in a news sitemap (Google). */
export const NEWS_MAX = 1_000;

/**
 * A Google News sitemap of these pieces, newest first. The caller selects the pieces of the last 48 hours. Without
 * pieces the sitemap is an empty list.
 */
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

/** A language code for Google News: ISO 639, but `zh-cn` or `zh-tw` for Chinese, by script. */
export function newsLanguage(tag: string): string {
  const subtags = tag.toLowerCase().split('-');
  if (subtags[0] !== 'zh') return subtags[0] ?? tag;
  return subtags.some((subtag) => ['hant', 'tw', 'hk', 'mo'].includes(subtag)) ? 'zh-tw' : 'zh-cn';
}
