import type { Row } from '../archive.ts';
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
        html: proseHtml(story.prose, story.cited_facts, (path) => `${root}/${path}`).html,
        image_url: image.absolute,
        image_type: media?.media_type ?? 'image/png',
        image_bytes: media === null || media.missing ? null : media.bytes,
        avatar_url: `${root}/${avatarPath(edition, row.persona)}`,
      },
    ];
  });
}
