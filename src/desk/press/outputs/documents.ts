import { coverPath } from '../../../media/card/card.ts';
import { jwks } from '../../../proof/keyring.ts';
import { frontOf, RAIL_MAX } from '../../papers/front.ts';
import { NEWEST_MAX } from '../../tags.ts';
import { channelOf } from '../feeds/channel.ts';
import { jsonFeed } from '../feeds/json-feed.ts';
import { llms } from '../feeds/llms.ts';
import { podcast } from '../feeds/podcast.ts';
import { rss } from '../feeds/rss.ts';
import { robots, securityTxt } from '../feeds/standing-files.ts';
import { singleOutput } from '../output.ts';
import { linksOf } from './row-view.ts';
import { feedItems } from './story.ts';

const LLMS_MAX = 20;

/** The documents that programs read. */
export const documents = [
  singleOutput('front-document', 'front', (edition) => {
    const links = linksOf(edition);
    const newest = (section: string) => edition.newest(RAIL_MAX, { section });
    const placement = edition.placement();
    const front = frontOf(edition.paper(), edition.number(), edition.masthead(), newest, placement, links);
    return [{ path: 'front.json', body: `${JSON.stringify(front)}\n` }];
  }),
  singleOutput('feeds', 'feed', (edition) => {
    const channel = channelOf(edition);
    const items = feedItems(edition, edition.newest(NEWEST_MAX));
    return [
      { path: 'rss.xml', body: rss(channel, items, { path: 'rss.xml' }) },
      { path: 'feed.json', body: jsonFeed(channel, items) },
    ];
  }),
  singleOutput('podcast', 'feed', (edition) => [
    {
      path: 'podcast.xml',
      body: podcast(channelOf(edition), edition.casts(), {
        cover_url: `${edition.site.root}/${coverPath(edition.paper())}`,
        identity: edition.keys()[0]?.kid ?? '',
      }),
    },
  ]),
  singleOutput('cover', 'cover', (edition) => {
    const paper = edition.paper();
    return [{ path: coverPath(paper), draw: async () => (await import('../cover.ts')).drawCover(paper) }];
  }),
  singleOutput('llms', 'feed', (edition) => [
    { path: 'llms.txt', body: llms(channelOf(edition), edition.newest(LLMS_MAX)) },
  ]),
  singleOutput('keys', 'feed', (edition) => [
    { path: '.well-known/newsdesk-keys.json', body: `${JSON.stringify(jwks(edition.keys()), null, 2)}\n` },
  ]),
  singleOutput('robots', 'feed', (edition) => [{ path: 'robots.txt', body: robots(edition.site.root) }]),
  singleOutput('security', 'feed', (edition) => [
    { path: '.well-known/security.txt', body: securityTxt(channelOf(edition), edition.number().changed_at) },
  ]),
];
