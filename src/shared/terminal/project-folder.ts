import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { printError } from './output.ts';

/**
 * The folder in which the user called the command. npm runs its scripts in the project's folder, and passes it as
 * INIT_CWD.
 */
let calledFrom: string | null = null;

/**
 * Makes the project's folder the current one, so that a command works from any folder below it: relative paths of the
 * settings, and `.env`, belong to the project. Paths that the user gives stay relative to where the user is
 * (`givenPath`).
 */
export function enterProject(): void {
  calledFrom = process.cwd();
  const project = projectAround(calledFrom, (folder) =>
    printError(
      `the project in ${folder} belongs to another user and is passed over; run this command in that folder itself, or as its owner`,
    ),
  );
  if (project !== calledFrom) process.chdir(project);
}

/** The folder that the user's relative paths start from. */
export function userFolder(): string {
  // biome-ignore lint/style/noProcessEnv: not our settings, but npm's variables for its scripts.
  const { npm_lifecycle_event: script, INIT_CWD } = process.env;
  if (script === 'broadsheet' && INIT_CWD !== undefined) return INIT_CWD;
  return calledFrom ?? process.cwd();
}

/**
 * The nearest project, from a folder upwards; the folder itself when there is none. Like git, it skips folders that
 * belong to another user, whose `.env` must not decide what this user's command does; `passedOver` is called for each.
 */
export function projectAround(folder: string, passedOver: (folder: string) => void = () => {}): string {
  for (let at = folder; ; at = dirname(at)) {
    if (isProject(at)) {
      if (at === folder || isOwn(at)) return at;
      passedOver(at);
    }
    if (at === dirname(at)) return folder;
  }
}

/** A project has a paper, a database, or a package.json that installs Broadsheet. */
function isProject(folder: string): boolean {
  return hasDatabase(folder) || hasPaper(folder) || installsBroadsheet(folder);
}

const hasDatabase = (folder: string) => existsSync(join(folder, 'var/broadsheet.db'));

function hasPaper(folder: string): boolean {
  try {
    return readdirSync(join(folder, 'content')).some((name) => existsSync(join(folder, 'content', name, 'paper.yaml')));
  } catch {
    return false;
  }
}

function installsBroadsheet(folder: string): boolean {
  try {
    const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return name === 'broadsheet' || typeof dependencies?.broadsheet === 'string';
  } catch {
    return false;
  }
}

function isOwn(folder: string): boolean {
  try {
    return statSync(folder).uid === process.getuid?.();
  } catch {
    return false;
  }
}

/** Resolves a path from the folder in which the user called the command; see `enterProject`. */
export function givenPath(path: string): string {
  const here = process.cwd();
  const from = resolve(userFolder());
  if (from === here) return path;
  const slash = path.endsWith('/') ? '/' : '';
  return `${relative(here, resolve(from, path)) || '.'}${slash}`;
}

/** Returns addresses and `-` unchanged, and resolves paths from the user's current folder. */
export function givenAddress(where: string): string {
  return /^(?:https?:\/\/|s3:)/i.test(where) || where === '-' ? where : givenPath(where);
}
