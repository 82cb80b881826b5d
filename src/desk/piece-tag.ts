import * as z from 'zod';
import type { TagCount } from './archive.ts';

/** A tag of the paper's pieces, and its number of pieces on air. */
export const TagRow = z
  .object({
    name: z.string().meta({ description: 'As the newest piece spells it.' }),
    slug: z.string(),
    count: z.int().min(1).meta({ description: 'Pieces on air.' }),
    url: z.url(),
    feed_url: z.url().meta({ description: 'RSS of its newest pieces.' }),
  })
  .meta({ id: 'Tag' });
export type TagRow = z.infer<typeof TagRow>;

export function tagRow({ name, slug, count }: TagCount, root: string): TagRow {
  const url = `${root}/tags/${slug}/`;
  return { name, slug, count, url, feed_url: `${url}rss.xml` };
}
