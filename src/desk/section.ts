import * as z from 'zod';
import type { Archive } from './archive.ts';
import { sectionSlug } from './paper.ts';

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
    return { name, slug, count: archive.sectionCount(name), url: `${root}/sections/${slug}/` };
  });
}
