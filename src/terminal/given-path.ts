import { relative, resolve } from 'node:path';

/**
 * Resolves a path from the user's current folder. npm runs its scripts in the project's folder, and passes the folder
 * from which it was called as INIT_CWD.
 */
export function givenPath(path: string): string {
  // biome-ignore lint/style/noProcessEnv: not our settings, but npm's variables for its scripts.
  const { npm_lifecycle_event: script, INIT_CWD: stood = '.' } = process.env;
  const here = process.cwd();
  if (script !== 'broadsheet' || resolve(stood) === here) return path;
  return relative(here, resolve(stood, path)) || '.';
}
