import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { pack } from '../support/package.ts';
import { packageRegistry } from '../support/package-registry.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { installTarball, outcome, packPackage } from './packed.ts';

/** Of an installation, in kB and packages. */
const SIZE_MAX = 200_000;
const PACKAGES_MAX = 129;

test('a paper that is created installs the packed program from a registry, and files, verifies and publishes', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const installed = join(folder, 'installed');
  installTarball(installed, packPackage(folder, 'packages/create-broadsheet', ['deploy/ci']));
  const env = { npm_config_registry: await packageRegistry(t, pack(folder)), npm_config_cache: join(folder, 'cache') };
  const starter = join(installed, 'node_modules/create-broadsheet/bin.mjs');
  const made = await outcome(folder, [process.execPath, starter, 'the-quay', '--yes'], env);
  assert.equal(made.code, 0, made.stderr);
  const project = join(folder, 'the-quay');
  // What was installed here: the lock file lists the variants for every platform.
  const { packages } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  assert.ok(Object.keys(packages).length <= PACKAGES_MAX, `${Object.keys(packages).length} packages`);
  const size = Number(execFileSync('du', ['-sk', 'node_modules'], { cwd: project, encoding: 'utf8' }).split('\t')[0]);
  assert.ok(size < SIZE_MAX, `${size} kB`);

  const story = join(project, 'content/the-quay/stories/how-to-write-a-day.md');
  writeFileSync(story, readFileSync(story, 'utf8').replace(/^air: false\n/m, ''));
  const imprint = join(project, 'content/the-quay/pages/imprint.md');
  writeFileSync(imprint, readFileSync(imprint, 'utf8').replace(/⟦([^⟧]*)⟧/g, '$1'));
  const broadsheet = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(join(project, 'node_modules/.bin/broadsheet'), args, {
      cwd: project,
      encoding: 'utf8',
    });
    assert.equal(status, 0, `${args}: ${stderr}${stdout}`);
    return stdout;
  };
  broadsheet('file');
  broadsheet('publish', '--to', join(project, 'site'));
  assert.match(broadsheet('verify', join(project, 'site/the-quay')), /how-to-write-a-day/);
  // No log: only a server signs its heads.
  assert.ok(readdirSync(join(project, 'site/the-quay')).includes('index.html'));
});
