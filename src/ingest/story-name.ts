import { basename } from 'node:path';

/** The piece that a story file belongs to, and the number of its revision. */
export function storyName(path: string): { slug: string; n: number } {
  const [, slug = '', n] = /^(.*?)(?:\.([2-9]|[1-9]\d+))?$/.exec(basename(path, '.md')) ?? [];
  return { slug, n: Number(n ?? 1) };
}
