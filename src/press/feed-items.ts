import { LRUCache } from 'lru-cache';
import type { Row, Story } from '../desk/archive.ts';
import type { Edition } from './edition.ts';
import type { FeedItem } from './feeds/channel.ts';
import { avatarPath } from './outputs/row-view.ts';
import { shareImage } from './outputs/story.ts';
import { proseHtml } from './prose-html.ts';

export function feedItems(edition: Edition, rows: Row[]): FeedItem[] {
  const { root } = edition.site;
  const stories = rows.map((row) => ({ row, story: edition.story(row.slug) }));
  return stories.flatMap(({ row, story }) => {
    if (story === null) return [];
    const image = shareImage(edition, row);
    const path = image.absolute.slice(root.length + 1);
    const media = edition.media(path);
    return [
      {
        ...story,
        html: htmlOf(story, root),
        image_url: image.absolute,
        image_type: media?.media_type ?? 'image/png',
        image_bytes: media === null || media.missing ? null : media.bytes,
        avatar_url: `${root}/${avatarPath(edition, row.persona)}`,
      },
    ];
  });
}

/** Prose rendered for feeds, by content and root: a publish changes one of fifty items. */
const rendered = new LRUCache<string, string>({ max: 200 });

function htmlOf({ content_hash, prose, cited_facts }: Story, root: string): string {
  const key = `${content_hash} ${root}`;
  const html = rendered.get(key) ?? proseHtml(prose, cited_facts, (media) => `${root}/${media}`).html;
  rendered.set(key, html);
  return html;
}
