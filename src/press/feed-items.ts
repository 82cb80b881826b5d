import type { Row, Story } from '../desk/archive.ts';
import type { Edition } from './edition.ts';
import type { FeedItem } from './feeds/channel.ts';
import { avatarPath } from './outputs/row-view.ts';
import { shareImage } from './outputs/story.ts';
import type { CacheLoad } from './press-cache.ts';
import { proseHtml } from './prose-html.ts';
import { proseVersion } from './shown-prose.ts';

/** Pieces in full, as feeds carry them. */
export function feedItems(edition: Edition, rows: Row[], cache?: CacheLoad | null): FeedItem[] {
  const { root } = edition.site;
  const stories = rows.map((row) => ({ row, story: edition.story(row.slug) }));
  const cached = cache
    ? cachedHtml(
        cache,
        stories.map(({ story }) => story).filter((story) => story !== null),
        root,
      )
    : null;
  return stories.flatMap(({ row, story }) => {
    if (story === null) return [];
    const image = shareImage(edition, row);
    const path = image.absolute.slice(root.length + 1);
    const media = edition.media(path);
    return [
      {
        ...story,
        html: htmlOf(story, root, cached?.get(`story/${story.slug}`)),
        image_url: image.absolute,
        image_type: media?.media_type ?? 'image/png',
        image_bytes: media === null || media.missing ? null : media.bytes,
        avatar_url: `${root}/${avatarPath(edition, row.persona)}`,
      },
    ];
  });
}

/** A cache of prose rendered for feeds, by content and root: a publish changes one of fifty items. */
const rendered = new Map<string, string>();
const RENDERED_MAX = 200;

/** HTML from the press cache, by output: without pictures, it is the same as on the page. */
function cachedHtml(cache: CacheLoad, stories: Story[], root: string): Map<string, string> {
  const others = stories.filter((story) => !rendered.has(keyOf(story, root)));
  const versions = new Map(others.map((story) => [`story/${story.slug}`, proseVersion(story)]));
  const found = new Map<string, string>();
  if (versions.size === 0) return found;
  for (const { output, bytes } of cache.read(versions)) found.set(output, Buffer.from(bytes).toString());
  return found;
}

function keyOf({ content_hash }: Story, root: string): string {
  return `${content_hash} ${root}`;
}

function htmlOf(story: Story, root: string, cached: string | undefined): string {
  const key = keyOf(story, root);
  const { prose, cited_facts } = story;
  const html = rendered.get(key) ?? cached ?? proseHtml(prose, cited_facts, (media) => `${root}/${media}`).html;
  // Reinserts the entry, so that the least recently used one is evicted first.
  rendered.delete(key);
  rendered.set(key, html);
  const oldest = rendered.keys().next().value;
  if (rendered.size > RENDERED_MAX && oldest !== undefined) rendered.delete(oldest);
  return html;
}
