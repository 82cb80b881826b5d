import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PROJECT, VERSION } from '../../src/shared/project.ts';
import { tempFolder } from '../support/app-context.ts';
import { PROGRAM } from '../support/program.ts';

const NOBODY = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@example.org'];
const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', [...NOBODY, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The first line of `--version` of the copy of the program in a folder. */
function versionIn(folder: string, env: Record<string, string> = {}): string {
  const args = [join(folder, 'bin/broadsheet.mjs'), '--version'];
  return execFileSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, ...env } }).trim();
}

/** A repository with one commit of what `--version` reads. */
function checkout(t: TestContext): { folder: string; commit: string } {
  const folder = tempFolder(t);
  for (const part of ['bin', 'package.json', '.gitattributes'])
    cpSync(join(PROJECT, part), join(folder, part), { recursive: true });
  git(folder, 'init', '--quiet');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '--message=a release');
  return { folder, commit: git(folder, 'rev-parse', 'HEAD').slice(0, 12) };
}

/** What `git archive` makes of a repository, unpacked into a folder. */
function unpackedIn(folder: string, from: string): string {
  mkdirSync(folder);
  const tar = execFileSync('git', ['archive', 'HEAD'], { cwd: from });
  execFileSync('tar', ['-x'], { cwd: folder, input: tar });
  return folder;
}

test('--version prints the version and loads no command', () => {
  for (const flag of ['--version', '-V']) {
    // Besides Node's own modules, Node loads TypeScript of this project and packages only.
    const env = { ...process.env, NODE_DEBUG: 'esm', NODE_DEBUG_NATIVE: '' };
    const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, flag], { encoding: 'utf8', env });
    assert.equal(stdout.split(/[ \n]/)[0], VERSION);
    assert.equal(status, 0);
    assert.doesNotMatch(stderr, /src\/cmd|commander/);
  }
});

test('--version names the commit of a checkout, whatever GIT_DIR says', (t) => {
  const { folder, commit } = checkout(t);
  assert.equal(versionIn(folder), `${VERSION} (${commit})`);
  assert.equal(versionIn(folder, { GIT_DIR: join(PROJECT, '.git') }), `${VERSION} (${commit})`);
});

test('--version names the commit of an archive, even one unpacked inside another repository', (t) => {
  const { folder, commit } = checkout(t);
  const outer = checkout(t).folder;
  git(outer, 'commit', '--quiet', '--allow-empty', '--message=another');
  assert.equal(versionIn(unpackedIn(join(outer, 'unpacked'), folder)), `${VERSION} (${commit})`);
});

test('--version prints the version alone when nothing records the commit', (t) => {
  const folder = tempFolder(t);
  cpSync(join(PROJECT, 'bin'), join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), readFileSync(join(PROJECT, 'package.json')));
  assert.equal(versionIn(folder), VERSION);
  const repository = checkout(t).folder;
  assert.equal(versionIn(repository, { PATH: '/nonexistent' }), VERSION, 'git is not installed');
});
