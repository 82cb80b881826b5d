import type { Archive } from '../desk/archive.ts';

/** An archive that has read some pieces in bulk: each read of one piece costs as much as a bulk read of several. */
export function loaded(archive: Archive, slugs: readonly string[], earlierMax: number): Archive {
  const { stories, generations, earlier } = archive.load(slugs, earlierMax);
  return {
    ...archive,
    storyBySlug: (slug) => stories.get(slug) ?? archive.storyBySlug(slug),
    generations: (id) => generations.get(id) ?? archive.generations(id),
    earlier: (row, limit) => (limit === earlierMax ? earlier.get(row.id) : undefined) ?? archive.earlier(row, limit),
  };
}
