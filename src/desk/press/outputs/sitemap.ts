import { HOUR } from '../../../proof/time.ts';
import { dependencies, SHARD_MAX } from '../../dependencies.ts';
import { sectionSlug } from '../../papers/paper.ts';
import { channelOf } from '../feeds/channel.ts';
import { newsSitemap, sitemapIndex, sitemapShard } from '../feeds/sitemap.ts';
import { keysAfter, type Output, type RenderedFile, singleOutput } from '../output.ts';
import { factShardPath } from './facts.ts';
import { TAGS_LISTED } from './piece-list.ts';

/** How long a piece stays in the news sitemap: 48 hours, in ms. */
export const NEWS_AGE = 48 * HOUR;

export const sitemap = singleOutput('sitemap', 'host', (edition) => {
  const shards = edition.months().flatMap(({ month, count }) => {
    const parts = Math.ceil(count / SHARD_MAX);
    return Array.from({ length: parts }, (_, index) => shardPath(month, index));
  });
  const facts = Array.from({ length: edition.factShards() }, (_, index) => factShardPath(index + 1));
  const paths = ['sitemap-news.xml', 'sitemaps/pages.xml', ...shards, ...facts];
  return [{ path: 'sitemap.xml', body: sitemapIndex(edition.site.root, paths) }];
});

/** The stories of one month, in parts of `SHARD_MAX`. */
export const monthSitemap: Output = {
  kind: 'month',
  stage: 'feed',
  paths: /^sitemaps\/(\d{4}-\d\d)/,
  keysForDependency: keysAfter(dependencies.month('')),
  allKeys: (edition) => edition.months().map(({ month }) => month),
  print(edition, month) {
    const urls = edition.month(month).map(({ slug, updated_at }) => ({ path: `stories/${slug}/`, updated_at }));
    if (urls.length === 0) return null;
    const printed: RenderedFile[] = [];
    for (let start = 0; start < urls.length; start += SHARD_MAX) {
      const body = sitemapShard(edition.site.root, urls.slice(start, start + SHARD_MAX));
      printed.push({ path: shardPath(month, start / SHARD_MAX), body });
    }
    return printed;
  },
};

export const pagesSitemap = singleOutput('pages-sitemap', 'feed', (edition) => {
  const paths = ['', 'days/', 'masthead/', 'corrections/', 'standards/', 'agents/', 'subscribe/'];
  for (const name of edition.paper().sections) paths.push(`sections/${sectionSlug(name)}/`);
  for (const { slug } of edition.masthead()) paths.push(`masthead/${slug}/`);
  for (const { slug } of edition.pages()) paths.push(`${slug}/`);
  const found = edition.tags(TAGS_LISTED);
  if (found.length > 0) paths.push('tags/', ...found.map(({ slug }) => `tags/${slug}/`).sort());
  if (edition.hasFacts()) paths.push('facts/', 'sources/');
  const casts = edition.casts();
  if (casts.length > 0) paths.push('cast/', ...casts.map(({ day }) => `cast/${day}/`));
  const urls = paths.map((path) => ({ path }));
  return [{ path: 'sitemaps/pages.xml', body: sitemapShard(edition.site.root, urls) }];
});

/** The pieces of the last 48 hours. The only file that becomes stale by time alone, because its content expires. */
export const news = singleOutput('news', 'feed', (edition, { now }) => [
  { path: 'sitemap-news.xml', body: newsSitemap(channelOf(edition), edition.news(now - NEWS_AGE)) },
]);

function shardPath(month: string, index: number): string {
  return `sitemaps/${month}${index === 0 ? '' : `-${index + 1}`}.xml`;
}
