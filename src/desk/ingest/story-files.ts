import type { DeskFolder } from './desk-folder.ts';
import { storyName } from './without-file.ts';

/** One of a piece's files: `slug.md` is the first, `slug.2.md` the second. */
export interface RevisionFile {
  n: number;
  path: string;
}

/** The files of each slug, ordered by number. Reports and skips slugs whose numbers are not 1, 2, 3 … */
export function storyFiles(at: DeskFolder, paths = at.files('stories', '.md')): Map<string, RevisionFile[]> {
  const named = paths.map((path) => ({ ...storyName(path), path }));
  const bySlug = Map.groupBy(named, ({ slug }) => slug);
  for (const files of bySlug.values()) files.sort((a, b) => a.n - b.n);
  for (const [slug, files] of bySlug) {
    const wrong = files.findIndex(({ n }, index) => n !== index + 1);
    const astray = files[wrong];
    if (astray === undefined) continue;
    const before = files[wrong - 1];
    at.refuse(
      astray.path,
      'slug',
      before?.n === astray.n
        ? `${at.name(before.path)} is revision ${before.n} of ${slug} too; rename one of the two`
        : `there is no ${slug}${wrong === 0 ? '' : `.${wrong + 1}`}.md for it to revise; number the files of a piece ${slug}.md, ${slug}.2.md, ${slug}.3.md …`,
    );
    bySlug.delete(slug);
  }
  return bySlug;
}
