import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

/**
 * Starts a repository in a new project, with everything in its first commit. Returns a line for the user when there is
 * something to do by hand, else null. Without git it does nothing.
 */
export function startHistory(project: string): string | null {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: project, encoding: 'utf8', env: withoutGit() });
  const outer = spawnSync('git', ['rev-parse', '--is-inside-work-tree'], {
    cwd: dirname(project),
    encoding: 'utf8',
    env: withoutGit(),
  });
  if (outer.error !== undefined) return 'git is not installed; the workflow needs a repository: run git init later';
  if (outer.stdout.trim() === 'true') return 'this folder is part of a git repository already: commit the paper there';
  for (const args of [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '--all'],
  ]) {
    const { status, stderr } = git(...args);
    if (status !== 0) return `git ${args[0]} failed (${stderr.trim().split('\n')[0]}); the paper is not in git yet`;
  }
  const { status } = git('commit', '--quiet', '--message', 'Start the paper');
  return status === 0
    ? null
    : 'the files are added to git, but not committed: set user.name and user.email, then commit';
}

/** The environment without the variables that a hook of another repository sets. */
function withoutGit(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith('GIT_DIR') && !name.startsWith('GIT_WORK') && !name.startsWith('GIT_INDEX'),
    ),
  );
}
