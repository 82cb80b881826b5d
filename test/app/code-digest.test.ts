import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { codeDigest } from '../../src/app/code-digest.ts';
import { tempFolder } from '../support/app-context.ts';

test('the digest of code follows every import, and the versions of packages', (t) => {
  const folder = tempFolder(t);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('a.ts', "import type { T } from './t.ts';\nimport {\n  b,\n} from './b.ts';\nimport './c.ts';\n");
  write('b.ts', "export { c } from './c.ts';\n");
  write('c.ts', 'export const c = 1;\n');
  write('t.ts', 'export type T = 1;\n');
  const digest = () => codeDigest([pathToFileURL(join(folder, 'a.ts'))]);
  const first = digest();
  write('t.ts', 'export type T = 2;\n');
  assert.equal(digest(), first);
  write('c.ts', 'export const c = 2;\n');
  assert.notEqual(digest(), first);
  const installed = (name: string, version: string, dependencies = {}) => {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    write(`node_modules/${name}/package.json`, JSON.stringify({ version, dependencies }));
  };
  write('c.ts', "import p from 'p';\nimport { join } from 'node:path';\n");
  installed('p', '1.0.0', { q: '^1.0.0' });
  installed('q', '1.0.0');
  const before = digest();
  installed('q', '1.0.1');
  assert.notEqual(digest(), before);
});
