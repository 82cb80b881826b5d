import type { Row } from '../desk/archive.ts';
import type { Edition } from './edition.ts';
import type { FeedItem } from './feeds/channel.ts';
import { proseHtml } from './prose-html.ts';
import { shareImage } from './sheets/story.ts';

/** Pieces in full, as feeds carry them. */
export function feedItems(edition: Edition, rows: Row[]): FeedItem[] {
  return rows.flatMap((row) => {
    const story = edition.story(row.slug);
    if (story === null) return [];
    const { root } = edition.place;
    const image = shareImage(edition, row);
    const path = image.absolute.slice(root.length + 1);
    const avatar = edition.persona(row.persona)?.avatar;
    return [
      {
        ...story,
        html: proseHtml(story.prose, story.cited_facts, (media) => `${root}/${media}`).html,
        image_url: image.absolute,
        image_type: edition.media(path)?.media_type ?? 'image/png',
        image_bytes: edition.media(path)?.bytes ?? 0,
        avatar_url: avatar ? `${root}/${avatar}` : null,
      },
    ];
  });
}
