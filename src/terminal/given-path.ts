import { relative, resolve } from 'node:path';
import { userFolder } from './project-folder.ts';

/** Resolves a path from the folder in which the user called the command; see `enterProject`. */
export function givenPath(path: string): string {
  const here = process.cwd();
  const from = resolve(userFolder());
  if (from === here) return path;
  const slash = path.endsWith('/') ? '/' : '';
  return `${relative(here, resolve(from, path)) || '.'}${slash}`;
}
