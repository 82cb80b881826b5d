import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { Fault, messageOf } from '../../shared/fault.ts';
import { printError } from '../../shared/terminal/output.ts';

/** The files and folders that npm changes. */
const INSTALLED = ['node_modules', 'package.json', 'package-lock.json'];
/** Lock files of other package managers, and how each installs a version. */
const OTHERS = { 'pnpm-lock.yaml': 'pnpm add', 'yarn.lock': 'yarn add', 'bun.lock': 'bun add' };

const versionIn = (folder: string): string =>
  JSON.parse(readFileSync(join(folder, 'node_modules/broadsheet/package.json'), 'utf8')).version;

/** The path of the program in a folder that has installed the package. */
export const programIn = (folder: string): string => join(folder, 'node_modules/broadsheet/bin/broadsheet.mjs');

/** Throws `unavailable` unless npm installed this program, which is at `program`, in the folder. */
export function requireNpmFolder(folder: string, program: string): void {
  const other = Object.entries(OTHERS).find(([file]) => existsSync(join(folder, file)));
  if (other !== undefined) {
    const [file, add] = other;
    const cure = `stop the server, back up, run \`${add} broadsheet@VERSION\`, and start it`;
    throw new Fault('unavailable', `${folder} has a ${file}, and this command upgrades with npm; ${cure}`);
  }
  if (program.startsWith(join(folder, 'node_modules/broadsheet/'))) return;
  const cure = 'upgrade a checkout with git and `npm ci`, a global package with `npm install -g` (docs/upgrading.md)';
  throw new Fault('unavailable', `${folder} has no package broadsheet of its own to upgrade; ${cure}`);
}

/** Another version, installed in a folder of its own, until `swap` exchanges it with the installed one. */
export class StagedInstall {
  readonly folder: string;
  readonly stage: string;
  readonly installed: string;
  readonly staged: string;

  private constructor(folder: string, stage: string) {
    this.folder = folder;
    this.stage = stage;
    this.installed = versionIn(folder);
    this.staged = versionIn(stage);
  }

  /** Installs a version or a tarball (an absolute path) beside the folder's own. Throws `unavailable` with npm's words. */
  static install(folder: string, wanted: string): StagedInstall {
    const stage = join(folder, '.broadsheet-upgrade');
    rmSync(stage, { recursive: true, force: true });
    mkdirSync(stage, { mode: 0o700 });
    try {
      for (const name of [...INSTALLED.slice(1), '.npmrc'])
        if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(stage, name));
      const spec = isAbsolute(wanted) ? wanted : `broadsheet@${wanted}`;
      const args = ['install', spec, '--prefix', stage, '--save-exact', '--no-audit', '--no-fund', '--fetch-retries=1'];
      const { status, stderr, error } = spawnSync('npm', args, { cwd: stage, encoding: 'utf8' });
      if (status !== 0) throw new Fault('unavailable', refusal(spec, error === undefined ? stderr : messageOf(error)));
      if (isAbsolute(wanted)) addressFrom(stage, folder, wanted);
      return new StagedInstall(folder, stage);
    } catch (error) {
      rmSync(stage, { recursive: true, force: true });
      throw error;
    }
  }

  /** Exchanges the two versions; a second call undoes it. When it fails, changes nothing and throws `unavailable`. */
  swap(): void {
    const done: string[] = [];
    try {
      for (const name of INSTALLED) {
        exchange(join(this.folder, name), join(this.stage, name));
        done.push(name);
      }
    } catch (error) {
      for (const name of done) exchange(join(this.folder, name), join(this.stage, name));
      const cure = 'let this user rename files there, and make it no mount point';
      throw new Fault('unavailable', `${this.folder} keeps what it has installed: ${messageOf(error)}; ${cure}`);
    }
  }

  remove(): void {
    rmSync(this.stage, { recursive: true, force: true });
  }
}

function exchange(one: string, other: string): void {
  const aside = `${other}.aside`;
  const [hasOne, hasOther] = [existsSync(one), existsSync(other)];
  if (hasOne) renameSync(one, aside);
  try {
    if (hasOther) renameSync(other, one);
  } catch (error) {
    if (hasOne) renameSync(aside, one);
    throw error;
  }
  if (hasOne) renameSync(aside, other);
}

/** Rewrites the path of the tarball, which npm wrote relative to the stage, relative to the folder. */
function addressFrom(stage: string, folder: string, tarball: string): void {
  for (const name of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json']) {
    const file = join(stage, name);
    if (!existsSync(file)) continue;
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(`file:${relative(stage, tarball)}`, `file:${relative(folder, tarball)}`));
  }
}

function refusal(spec: string, said: string): string {
  const words = said
    .split('\n')
    .map((line) => line.replace(/^npm error ?/, '').trim())
    .filter((line) => line !== '' && !/^(?:npm warn|A complete log|(?:code|syscall|errno|type)\b|at )/.test(line));
  const code = /^npm error code (\S+)/m.exec(said)?.[1] ?? 'npm';
  const cure = 'check the version and the network; nothing was changed';
  return `${spec} could not be installed (${code}: ${words[0] ?? 'it said nothing'}); ${cure}`;
}

/** Runs a program of the package in the folder. Its output goes to the terminal. Returns whether it succeeded. */
export function runProgram(program: string, folder: string, args: string[]): boolean {
  const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', args[0] === 'doctor' ? 'inherit' : 'ignore', 'pipe'],
  });
  for (const line of stderr.split('\n')) if (line !== '') printError(line);
  return status === 0;
}
