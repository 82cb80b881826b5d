import { createHash } from 'node:crypto';
import { coverPath } from '../../../media/card/card.ts';
import { jwks } from '../../../proof/keyring.ts';
import { isoTime } from '../../../proof/time.ts';
import { NEWEST_MAX } from '../../dependencies.ts';
import { hasAudio } from '../../papers/cast.ts';
import { frontOf, RAIL_MAX } from '../../papers/front.ts';
import type { Edition } from '../edition.ts';
import { channelOf } from '../feeds/channel.ts';
import { type HeaderContext, headersFile } from '../feeds/headers.ts';
import { jsonFeed } from '../feeds/json-feed.ts';
import { llms } from '../feeds/llms.ts';
import { podcast } from '../feeds/podcast.ts';
import { rss } from '../feeds/rss.ts';
import { robots, securityTxt } from '../feeds/well-known-files.ts';
import { type Render, singleOutput } from '../output.ts';
import type { EmbedView } from '../views.ts';
import { linksOf } from './frame.ts';
import { feedItems } from './story.ts';

const LLMS_MAX = 20;

/** The documents for programs. */
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
    { path: 'llms.txt', body: llms(channelOf(edition), edition.newest(LLMS_MAX), hasAudio(edition.casts())) },
  ]),
  singleOutput('keys', 'feed', (edition) => [
    { path: '.well-known/newsdesk-keys.json', body: `${JSON.stringify(jwks(edition.keys()), null, 2)}\n` },
  ]),
  singleOutput('robots', 'feed', (edition) => [{ path: 'robots.txt', body: robots(edition.site.root) }]),
  singleOutput('security', 'feed', (edition) => [
    { path: '.well-known/security.txt', body: securityTxt(channelOf(edition), edition.number().changed_at) },
  ]),
];

export const hosting = singleOutput('hosting', 'host', async (edition, { render }) => {
  const pages = edition.pages().map(({ slug }) => slug);
  return [{ path: '_headers', body: headersFile(await headerContext(edition, render), pages) }];
});

/** The paper's input to the header policy: the hashes of the embed card's inline scripts. */
export async function headerContext(edition: Edition, render: Render): Promise<HeaderContext> {
  const { root } = edition.site;
  const { analytics } = edition.paper();
  const card = await render('/paper/embed', emptyCard(edition));
  const scripts = [...card.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text);
  return {
    root,
    analytics,
    embed_scripts: scripts.map((text) => `sha256-${createHash('sha256').update(text).digest('base64')}`),
  };
}

/** An empty card. It has the same scripts as every other card. */
function emptyCard(edition: Edition): EmbedView {
  const { nameplate, hue, language } = edition.paper();
  const { root } = edition.site;
  return {
    withdrawn_at: null,
    language,
    hue,
    nameplate,
    root_absolute: `${root}/`,
    story_absolute: `${root}/`,
    headline: '',
    dek: '',
    category: '',
    byline: { name: '', title: '' },
    writer: null,
    provenance: null,
    published_at: isoTime(0),
    image: null,
    motif: null,
  };
}
