import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PROJECT, VERSION } from '../../src/shared/project.ts';
import { tempFolder } from '../support/app-context.ts';

const PARTS = [
  ...['.gitattributes', 'bin', 'package.json', 'package-lock.json', 'src/layouts/typefaces'],
  ...['tools/release.sh', 'tools/third-party.mjs', 'tools/fonts/package-lock.json'],
];
const NOBODY = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@example.org'];

function repository(t: TestContext, changelog: string): string {
  const folder = tempFolder(t);
  for (const part of PARTS) cpSync(join(PROJECT, part), join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog);
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...NOBODY, 'commit', '-q', '-m', 'release'],
  ])
    execFileSync('git', args, { cwd: folder });
  return folder;
}

const release = (folder: string, tag: string, to: string) =>
  spawnSync(join(folder, 'tools/release.sh'), [tag, to], { cwd: folder, encoding: 'utf8' });

test('a release attaches the sources, which name their commit, the notice and their checksums', (t) => {
  const folder = repository(t, `# Changelog\n\n## ${VERSION}\n`);
  const { status, stderr } = release(folder, `v${VERSION}`, 'release');
  assert.equal(status, 0, stderr);
  const to = join(folder, 'release');
  const archive = `broadsheet-${VERSION}.tar.gz`;
  assert.deepEqual(readdirSync(to).sort(), ['SHA256SUMS', 'THIRD-PARTY.txt', archive].sort());
  execFileSync('sha256sum', ['--check', '--status', '--strict', 'SHA256SUMS'], { cwd: to });
  assert.match(readFileSync(join(to, 'THIRD-PARTY.txt'), 'utf8'), /^hono \d+\.\d+\.\d+: MIT$/m);

  const unpacked = tempFolder(t);
  execFileSync('tar', ['-xzf', join(to, archive), '-C', unpacked]);
  const program = join(unpacked, `broadsheet-${VERSION}/bin/broadsheet.mjs`);
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' }).slice(0, 12);
  assert.equal(
    execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' }),
    `${VERSION} (${commit})\n`,
  );

  assert.equal(release(folder, `v${VERSION}`, 'again').status, 0);
  assert.deepEqual(readFileSync(join(folder, 'again', archive)), readFileSync(join(to, archive)), 'it can be repeated');
});

test('a release is refused when the tag is not the version, or the changelog calls the version unreleased', (t) => {
  const folder = repository(t, `# Changelog\n\n## ${VERSION} (unreleased)\n`);
  const wrong = release(folder, 'v9.9.9', 'release');
  assert.equal(wrong.status, 1);
  assert.match(
    wrong.stderr,
    new RegExp(`^release: the tag is v9\\.9\\.9, but package\\.json has the version ${VERSION}`),
  );
  const early = release(folder, `v${VERSION}`, 'release');
  assert.equal(early.status, 1);
  assert.match(early.stderr, /^release: CHANGELOG\.md has no heading /);
  mkdirSync(join(folder, 'release'));
  assert.deepEqual(readdirSync(join(folder, 'release')), [], 'nothing was made');
});
