import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The first twelve digits of the commit that a copy of the project was made from; undefined if nothing records it.
 * A checkout has `.git`. In an archive, `git archive` has filled in bin/commit.txt (.gitattributes: export-subst); the
 * Docker image is built with it.
 */
export function commitOf(project) {
  const repository = join(project, '.git');
  // Without --git-dir, an archive unpacked inside another repository would report the commit of that repository.
  const recorded = existsSync(repository)
    ? spawnSync('git', [`--git-dir=${repository}`, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout
    : readFileSync(join(project, 'bin/commit.txt'), 'utf8');
  return /^[0-9a-f]{12}/.exec(recorded ?? '')?.[0];
}
