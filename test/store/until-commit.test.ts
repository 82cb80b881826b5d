import assert from 'node:assert/strict';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../src/store/store.ts';
import { untilCommit } from '../../src/store/until-commit.ts';
import { tempFolder } from '../support/app-context.ts';

test('what was read is remembered until a commit, and asked each time without a mark', () => {
  let [mark, said, asked]: [number | null, string | null, number] = [1, 'a', 0];
  const read = untilCommit(
    () => mark,
    () => {
      asked++;
      return said;
    },
  );
  const after = (what: string | null) => {
    said = what;
    return [read('x'), asked];
  };
  assert.deepEqual(after('a'), ['a', 1]);
  assert.deepEqual(after('b'), ['a', 1]);
  mark = 2;
  assert.deepEqual(after('b'), ['b', 2]);
  mark = null;
  assert.deepEqual(after('c'), ['c', 3]);
  assert.deepEqual(after('d'), ['d', 4]);
  mark = 3;
  assert.deepEqual(after(null), [null, 5]);
  assert.deepEqual(after('e'), ['e', 6], 'nothing is remembered of a name without an answer');
});

test('a commit between the mark and the read is seen by the next call', () => {
  let [mark, said] = [1, 'a'];
  const read = untilCommit(
    () => mark,
    () => {
      // Another process commits after this connection has read.
      const found = said;
      [mark, said] = [mark + 1, 'b'];
      return found;
    },
  );
  assert.deepEqual([read('x'), read('x')], ['a', 'b']);
});

test('what is remembered does not hang on a folder that takes the place of the database before the first question', (t) => {
  const folder = tempFolder(t);
  for (const name of ['own', 'other']) mkdirSync(join(folder, name));
  const store = openStore({ file: join(folder, 'own', 'broadsheet.db') });
  t.after(() => store.close());
  openStore({ file: join(folder, 'other', 'broadsheet.db') }).close();
  let state = 'first';
  const stateOf = store.untilCommit(() => state);
  renameSync(join(folder, 'own'), join(folder, 'moved'));
  renameSync(join(folder, 'other'), join(folder, 'own'));
  const other = openStore({ file: join(folder, 'own', 'broadsheet.db') });
  t.after(() => other.close());
  assert.equal(stateOf('tide.example'), 'first');
  state = 'second';
  store.leases.acquire('name', 'owner', Date.now, 1_000);
  assert.equal(stateOf('tide.example'), 'second');
});
