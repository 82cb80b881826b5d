import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { pack, startInstalled } from '../support/package.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** What npm says when it does not reach a registry, or not at this date. */
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONN|ENETUNREACH|ETIMEDOUT|CERT_/;

test('npm installs the package from a registry, small, and it files', { skip: ONLY_WIDE }, async (t) => {
  const outer = tempFolder(t);
  const tarball = pack(outer);
  const folder = join(outer, 'my papers');
  mkdirSync(folder);
  const args = ['install', tarball, '--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0'];
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0 && NO_REGISTRY.test(stderr)) return t.skip('no registry answers');
  assert.equal(status, 0, stderr);
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  assert.ok(Object.keys(packages).length <= 125, `${Object.keys(packages).length} packages`);
  const [kilobytes] = execFileSync('du', ['-sk', join(folder, 'node_modules')], { encoding: 'utf8' }).split('\t');
  assert.ok(Number(kilobytes) < 200_000, `${kilobytes} kB`);
  // No package has a script of its own to run while it is installed.
  assert.deepEqual(
    Object.entries<{ hasInstallScript?: boolean }>(packages).filter(([, { hasInstallScript }]) => hasInstallScript),
    [],
  );
  assert.equal((await startInstalled(t, folder, ['new', 'the-quay', '--yes']).ended).code, 0);
  const filed = await startInstalled(t, folder, ['file']).ended;
  assert.match(filed.stdout, /10 filed, 0 unchanged, 1 refused\n/, filed.stderr);
  assert.ok(existsSync(join(folder, 'dist/papers/the-quay/index.html')));
});
