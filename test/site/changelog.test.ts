import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const CHANGELOG = readFileSync(join(fileURLToPath(new URL('../../', import.meta.url)), 'CHANGELOG.md'), 'utf8');
const lines = CHANGELOG.split('\n');

test('a change is one line of at most 25 words', () => {
  const changes = lines.filter((line) => line.startsWith('- '));
  assert(changes.length > 0);
  const long = changes.filter((line) => line.slice(2).trim().split(/\s+/).length > 25);
  assert.deepEqual(long, []);
  // A line that goes on below would escape the count.
  assert.deepEqual(
    lines.filter((line) => /^\s+\S/.test(line)),
    [],
  );
});

test('a version is a heading with its number, and what it says of itself fits on one screen', () => {
  const versions = CHANGELOG.split(/^## /m).slice(1);
  assert(versions.length > 0);
  for (const version of versions) {
    assert.match(version, /^\d+\.\d+\.\d+ \((?:unreleased|20\d\d-\d\d-\d\d)\)\n/);
    const changes = version.split('\n').filter((line) => line.startsWith('- '));
    assert(changes.length <= 60, `${version.slice(0, 20)}: ${changes.length} changes are more than one screen`);
  }
});
