import { basename } from 'node:path';
import { CLI } from '../../shared/command-line.ts';
import type { StateName } from '../archive.ts';

/** The slug of the piece that a story file belongs to, and the number of its revision. */
export function storyName(path: string): { slug: string; n: number } {
  const [, slug = '', n] = /^(.*?)(?:\.([2-9]|[1-9]\d+))?$/.exec(basename(path, '.md')) ?? [];
  return { slug, n: Number(n ?? 1) };
}

/** A piece that is on air or scheduled although its story file was deleted or renamed. */
export interface WithoutFile {
  paper: string;
  slug: string;
  state: 'on_air' | 'scheduled';
  /** The name of its newest file in reports, when it was last filed. */
  file: string;
  /** A file with the same bytes under another slug, which is now a separate piece; null without one. */
  renamed_to: string | null;
  /** The command that takes it off the air. */
  command: string;
}

/**
 * The pieces of a paper that have lost their files. `filed` maps story files to their digests when they were filed;
 * `present` lists the existing files. Pieces filed through the API never had a file; a file that was moved within
 * stories/ keeps its slug.
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
    const command = `${CLI} withdraw ${slug} --paper ${paper} --reason "Withdrawn by the desk."`;
    found.set(slug, { paper, slug, state, file, renamed_to: byDigest.get(digest) ?? null, command });
  }
  return [...found.values()];
}

/** One line for a terminal, ending in the command. */
export function withoutFileLine({ paper, slug, state, file, renamed_to, command }: WithoutFile): string {
  const how = state === 'on_air' ? 'on air' : 'scheduled';
  return renamed_to === null
    ? `${paper}/${slug} is ${how} without a file: ${file} was deleted; put it back, or withdraw the piece: ${command}`
    : `${paper}/${slug} is ${how} beside ${renamed_to}, into which ${file} was renamed; to keep one of the two pieces: ${command}`;
}
