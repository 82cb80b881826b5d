import { isoTime } from '../../time.ts';
import { escapeText, XML_DECLARATION } from './xml.ts';

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
