import type { Row, Story } from '../desk/archive.ts';
import type { Edition } from './edition.ts';
import type { FeedItem } from './feeds/channel.ts';
import { avatarPath } from './outputs/row-view.ts';
import { shareImage } from './outputs/story.ts';
import { proseHtml } from './prose-html.ts';

/** Pieces in full, as feeds carry them. */
export function feedItems(edition: Edition, rows: Row[]): FeedItem[] {
  return rows.flatMap((row) => {
    const story = edition.story(row.slug);
    if (story === null) return [];
    const { root } = edition.site;
    const image = shareImage(edition, row);
    const path = image.absolute.slice(root.length + 1);
    return [
      {
        ...story,
        html: htmlOf(story, root),
        image_url: image.absolute,
        image_type: edition.media(path)?.media_type ?? 'image/png',
        image_bytes: edition.media(path)?.bytes ?? null,
        avatar_url: `${root}/${avatarPath(edition, row.persona)}`,
      },
    ];
  });
}

/** A cache of prose rendered for feeds, by content and root: a publish changes one of fifty items. */
const rendered = new Map<string, string>();
const RENDERED_MAX = 200;

function htmlOf({ content_hash, prose, cited_facts }: Story, root: string): string {
  const key = `${content_hash} ${root}`;
  const html = rendered.get(key) ?? proseHtml(prose, cited_facts, (media) => `${root}/${media}`).html;
  // Reinserts the entry, so that the least recently used one is evicted first.
  rendered.delete(key);
  rendered.set(key, html);
  const oldest = rendered.keys().next().value;
  if (rendered.size > RENDERED_MAX && oldest !== undefined) rendered.delete(oldest);
  return html;
}
