import * as z from 'zod';
import type { Archive, TagCount } from './archive.ts';
import { sectionSlug } from './papers/paper.ts';

/** A section and its number of pieces on air. */
export const SectionRow = z
  .object({
    name: z.string().meta({ description: 'The same string that stories carry in `category`.' }),
    slug: z.string(),
    count: z.int().min(0).meta({ description: 'Pieces on air.' }),
    url: z.url(),
  })
  .meta({ id: 'Section' });
export type SectionRow = z.infer<typeof SectionRow>;

/** The paper's sections, in its order. */
export function sectionRows(archive: Archive, root: string): SectionRow[] {
  return archive.paper().sections.map((name) => {
    const slug = sectionSlug(name);
    return { name, slug, count: archive.list('section', name).count(), url: `${root}/sections/${slug}/` };
  });
}

/** A day with pieces. */
export const DayRow = z
  .object({
    day: z.iso.date().meta({ description: 'A UTC day.' }),
    count: z.int().min(1).meta({ description: 'How many pieces went on air that day.' }),
    url: z.url().meta({ description: 'The back issue’s page.' }),
  })
  .meta({ id: 'Day', example: { day: '2026-11-20', count: 3, url: 'https://example.org/days/2026-11-20/' } });
export type DayRow = z.infer<typeof DayRow>;

export function dayRow({ day, count }: { day: string; count: number }, root: string): DayRow {
  return { day, count, url: `${root}/days/${day}/` };
}

/** A tag of the paper's pieces, and its number of pieces on air. */
export const TagRow = z
  .object({
    name: z.string().meta({ description: 'Spelled as in the newest piece.' }),
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
