import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PROGRAM } from '../support/program.ts';

const PACKAGE = fileURLToPath(new URL('../../package.json', import.meta.url));

test('--version prints the version and loads no command', () => {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  for (const flag of ['--version', '-V']) {
    // Every module that Node loads beside its own is TypeScript of ours, or a package.
    const env = { ...process.env, NODE_DEBUG: 'esm', NODE_DEBUG_NATIVE: '' };
    const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, flag], { encoding: 'utf8', env });
    assert.equal(stdout, `${version}\n`);
    assert.equal(status, 0);
    assert.doesNotMatch(stderr, /src\/cmd|commander/);
  }
});
