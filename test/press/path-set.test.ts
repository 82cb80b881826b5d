import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PathSet } from '../../src/press/path-set.ts';
import * as fc from '../support/properties.ts';

test('a set of paths has what was added and nothing else, however many there are', () => {
  const set = new PathSet();
  const path = (n: number) => `stories/piece-${n}/index.html`;
  for (let n = 0; n < 60_000; n++) for (let twice = 0; twice < 2; twice++) set.add(path(n));
  for (let n = 0; n < 60_000; n++) assert.ok(set.has(path(n)), path(n));
  for (let n = 60_000; n < 240_000; n++) assert.ok(!set.has(path(n)), path(n));
});

test('paths that differ in little are told apart', () => {
  const name = fc.array(fc.constantFrom('a', 'b', '/', '.', '潮', '\u0000'), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(name), name, (added, asked) => {
      const paths = added.map((parts) => parts.join(''));
      const set = new PathSet();
      for (const path of paths) set.add(path);
      assert.equal(set.has(asked.join('')), paths.includes(asked.join('')));
    }),
  );
});
