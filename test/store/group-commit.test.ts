import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'libsql';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';

const AT = Date.UTC(2026, 10, 21);

function opened(t: Parameters<typeof tempFolder>[0]) {
  const file = emptyDatabase(tempFolder(t));
  const store = openStore({ file });
  t.after(() => store.database.close());
  return { file, store };
}

const account = (id: string) => ({ id, plan: 'daily' as const, made_at: AT });

test('concurrent writes share commits, and none is visible before its commit', async (t) => {
  const { file, store } = opened(t);
  const other = openStore({ file });
  t.after(() => other.database.close());
  const seen: number[] = [];
  const names = Array.from({ length: 20 }, (_, n) => `n${n}@example.org`);
  const done = names.map((name) =>
    store.database.groupCommit(() => {
      store.records.accounts.ofEmail(name, account(name));
      seen.push(names.filter((one) => other.records.accounts.byEmail(one) !== null).length);
      return name;
    }),
  );
  assert.equal(store.records.accounts.byEmail('n0@example.org'), null, 'nothing is done at once');
  assert.deepEqual(await Promise.all(done), names);
  // On a slow machine a group is ended early, so that readers need not wait.
  assert.ok(new Set(seen).size < names.length / 2, `commits after ${seen.join(', ')}`);
  assert.ok(seen.every((count, n) => count <= n));
  assert.equal(names.filter((one) => other.records.accounts.byEmail(one) !== null).length, 20);
});

test('a write that throws is rolled back alone', async (t) => {
  const { store } = opened(t);
  const outcomes = await Promise.allSettled(
    ['a', 'b', 'c'].map((name) =>
      store.database.groupCommit(() => {
        store.records.accounts.ofEmail(`${name}@example.org`, account(name));
        if (name === 'b') throw new Error('not this one');
      }),
    ),
  );
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const there = ['a', 'b', 'c'].map((name) => store.records.accounts.find(name) !== null);
  assert.deepEqual(there, [true, false, true]);
});

test('a commit that cannot begin fails all of its writers, and the next one proceeds', async (t) => {
  const { file, store } = opened(t);
  const holder = new Database(file);
  t.after(() => holder.close());
  holder.exec('BEGIN IMMEDIATE');
  const write = (name: string) =>
    store.database.groupCommit(() => store.records.accounts.ofEmail(`${name}@example.org`, account(name)));
  for (const outcome of await Promise.allSettled(['a', 'b'].map(write))) {
    assert.equal(outcome.status, 'rejected');
    assert.match(String((outcome as PromiseRejectedResult).reason), /is locked by another process/);
  }
  holder.exec('ROLLBACK');
  await write('c');
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => store.records.accounts.find(name) !== null),
    [false, false, true],
  );
});

test('a store that is closed does first what waits', async (t) => {
  const { file, store } = opened(t);
  const done = store.database.groupCommit(() => store.records.accounts.ofEmail('a@example.org', account('a')));
  store.database.close();
  await done;
  const again = openStore({ file });
  t.after(() => again.database.close());
  assert.notEqual(again.records.accounts.find('a'), null);
});

// The driver ends the process when a closed connection is asked whether it is in a transaction.
test('work that comes after the database was closed is refused, and nothing ends', async (t) => {
  const store = openStore({ file: emptyDatabase(tempFolder(t)) });
  store.database.close();
  await assert.rejects(
    store.database.groupCommit(() => store.records.accounts.byEmail('a@example.org')),
    /not open/,
  );
  assert.throws(() => store.database.transact(() => store.records.accounts.byEmail('a@example.org')), /not open/);
  assert.throws(() => store.desk.nextPlaceExpiry(), /not open/);
});
