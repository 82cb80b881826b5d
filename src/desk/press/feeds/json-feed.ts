import { isoTime } from '../../../proof/time.ts';
import { storyUrl } from '../../story.ts';
import {
  authorName,
  type Channel,
  channelDescription,
  declared,
  disclosure,
  type FeedItem,
  itemUrn,
} from './channel.ts';
import { feedHtml } from './feed-html.ts';

/**
 * JSON Feed 1.1 (feed 6 writes version 1). `_broadsheet` has what the format lacks; the proof verifies its hash.
 */
export function jsonFeed(channel: Channel, items: readonly FeedItem[]): string {
  const { paper, root } = channel;
  const feed = {
    version: 'https://jsonfeed.org/version/1.1',
    title: paper.nameplate,
    home_page_url: `${root}/`,
    feed_url: `${root}/feed.json`,
    description: channelDescription(channel),
    ...(channel.hub == null ? {} : { hubs: [{ type: 'WebSub', url: channel.hub }] }),
    language: paper.language,
    _broadsheet: { about: `${root}/agents/`, declared_ai: true, disclosure: disclosure(channel) },
    items: items.map((item) => ({
      id: itemUrn(item.id),
      url: storyUrl(root, item.slug),
      title: item.headline,
      content_html: feedHtml(channel, item),
      ...(item.dek === '' ? {} : { summary: item.dek }),
      image: item.image_url,
      date_published: isoTime(item.published_at),
      date_modified: isoTime(item.updated_at),
      authors: isByPeople(item)
        ? item.writers.map(({ name, ...rest }) => ({ name: authorName(name), ...rest }))
        : [personaOf(channel, item)],
      tags: [item.category, ...item.tags],
      language: item.language,
      _broadsheet: {
        declared_ai: !isByPeople(item),
        ...(isByPeople(item) ? { brought_in_by: { ...personaOf(channel, item), declared_ai: true } } : {}),
        piece: item.id,
        kind: item.kind,
        ...(item.provenance === null ? {} : { provenance: item.provenance }),
        revision: item.revision,
        content_hash: item.content_hash,
      },
    })),
  };
  return `${JSON.stringify(feed, null, 2)}\n`;
}

const isByPeople = ({ writers }: FeedItem): boolean => writers.length > 0;

function personaOf(channel: Channel, item: FeedItem) {
  return {
    name: authorName(declared(channel, item.byline.name)),
    url: `${channel.root}/masthead/${item.persona}/`,
    avatar: item.avatar_url,
  };
}
