import assert from 'node:assert/strict';
import { it } from 'node:test';
import { headersFile } from '../../../src/desk/press/feeds/headers.ts';
import { jsonFeed } from '../../../src/desk/press/feeds/json-feed.ts';
import { llms } from '../../../src/desk/press/feeds/llms.ts';
import { storyMarkdown } from '../../../src/desk/press/feeds/markdown.ts';
import { podcast } from '../../../src/desk/press/feeds/podcast.ts';
import { rss } from '../../../src/desk/press/feeds/rss.ts';
import { newsSitemap, sitemapIndex, sitemapShard } from '../../../src/desk/press/feeds/sitemap.ts';
import { robots, securityTxt } from '../../../src/desk/press/feeds/well-known-files.ts';
import { frontJsonLd, storyJsonLd } from '../../../src/desk/press/structured-data.ts';
import { cast, channel, hardItems } from './fixtures.ts';

const LOGO = { url: 'https://ledger.example/icons/a-512.png', width: 512, height: 512 };

/** Every file that the feeds can write, from the same ledger. */
function everything(): string[] {
  const items = hardItems();
  return [
    rss(channel, items, { path: 'rss.xml' }),
    rss(channel, [], { path: 'sections/city/rss.xml', list: { name: 'City', path: 'sections/city/' } }),
    jsonFeed(channel, items),
    podcast(channel, [cast()], { cover_url: `${channel.root}/media/cover.png`, identity: 'kid' }),
    newsSitemap(channel, items),
    sitemapIndex(channel.root, ['sitemaps/pages.xml']),
    sitemapShard(channel.root, [{ path: '', updated_at: 1 }]),
    llms(channel, items),
    robots(channel.root),
    securityTxt(channel, Date.UTC(2026, 10, 21)),
    headersFile({ root: channel.root, embed_scripts: [] }),
    frontJsonLd(channel, LOGO),
    ...items.flatMap((item) => [
      storyMarkdown(channel, item),
      storyJsonLd(channel, item, { image: item.image_url, avatar: item.avatar_url, word_count: 1, logo: LOGO }),
    ]),
  ];
}

it('the same ledger gives the same bytes, whenever and by whichever dice', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 21) });
  t.mock.method(Math, 'random', () => 0.25);
  const before = everything();
  t.mock.timers.setTime(Date.UTC(2035, 5, 1));
  t.mock.method(Math, 'random', () => 0.75);
  assert.deepEqual(everything(), before);
  for (const text of before) assert.doesNotMatch(text, /2035|Jun 2035/);
});
