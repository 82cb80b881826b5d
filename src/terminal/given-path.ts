import { relative, resolve } from 'node:path';

/**
 * A path as it was meant: from where the user stands. npm runs its scripts in
 * the project's folder, where the settings hold too, and says in INIT_CWD where
 * it was called.
 */
export function givenPath(path: string): string {
  // biome-ignore lint/style/noProcessEnv: no settings of ours, but npm's own words to what it runs.
  const { npm_lifecycle_event: script, INIT_CWD: stood = '.' } = process.env;
  const here = process.cwd();
  if (script !== 'broadsheet' || resolve(stood) === here) return path;
  return relative(here, resolve(stood, path)) || '.';
}
