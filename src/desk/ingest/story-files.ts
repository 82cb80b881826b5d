import { basename } from 'node:path';
import type { StateName } from '../archive.ts';
import type { DeskFolder } from './desk-folder.ts';

/** The piece that a story file belongs to, and the number of its revision. */
function storyName(path: string): { slug: string; n: number } {
  const [, slug = '', n] = /^(.*?)(?:\.([2-9]|[1-9]\d+))?$/.exec(basename(path, '.md')) ?? [];
  return { slug, n: Number(n ?? 1) };
}

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

/** A piece that is on air, or will be, although its story file was deleted or renamed. */
export interface WithoutFile {
  paper: string;
  slug: string;
  state: 'on_air' | 'scheduled';
  /** Its newest file, as reports name it, when it was last filed. */
  file: string;
  /** A file with the same bytes under another slug, which is a piece of its own; null without one. */
  renamed_to: string | null;
  /** The command that takes it off the air. */
  command: string;
}

/**
 * The pieces of a paper that have lost their files. `filed` has the digests of the story files as they were filed,
 * `present` names those that are there now. Pieces that came over the API never had a file; a file that was moved
 * within stories/ has the same slug.
 */
export function piecesWithoutFile(
  paper: string,
  filed: ReadonlyMap<string, string>,
  present: readonly string[],
  stateOf: (slug: string) => StateName | null,
): WithoutFile[] {
  const there = new Set(present);
  const slugs = new Set(present.map((file) => storyName(file).slug));
  const byDigest = new Map(present.map((file) => [filed.get(file) ?? '', file]));
  const found = new Map<string, WithoutFile>();
  for (const [file, digest] of [...filed].sort(([a], [b]) => storyName(a).n - storyName(b).n)) {
    const { slug } = storyName(file);
    if (there.has(file) || slugs.has(slug)) continue;
    const state = stateOf(slug);
    if (state !== 'on_air' && state !== 'scheduled') continue;
    const command = `npm run -s broadsheet -- withdraw ${slug} --paper ${paper} --reason "Withdrawn by the desk."`;
    found.set(slug, { paper, slug, state, file, renamed_to: byDigest.get(digest) ?? null, command });
  }
  return [...found.values()];
}

/** One line for a terminal, which ends in the command. */
export function withoutFileLine({ paper, slug, state, file, renamed_to, command }: WithoutFile): string {
  const how = state === 'on_air' ? 'on air' : 'scheduled';
  return renamed_to === null
    ? `${paper}/${slug} is ${how} without a file: ${file} was deleted; put it back, or withdraw the piece: ${command}`
    : `${paper}/${slug} is ${how} beside ${renamed_to}, into which ${file} was renamed; to keep one of the two pieces: ${command}`;
}
