import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { IN_MEMORY } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';

/** Runs statements in another process. */
function inAnotherProcess(file: string, statements: string): void {
  const script = 'const [, file, text] = process.argv; new (require("libsql"))(file).exec(text)';
  execFileSync(process.execPath, ['-e', script, file, statements], { cwd: import.meta.dirname, stdio: 'pipe' });
}

const CHANGE = "INSERT INTO duties (name, owner, until) VALUES (hex(randomblob(8)), 'me', 1)";

function opened(t: TestContext) {
  const file = join(tempFolder(t), 'broadsheet.db');
  const store = openStore({ file });
  t.after(() => store.close());
  return { file, store };
}

/** Grows when the store cannot tell that nothing was committed since the last call. */
function marks(store: Store): (name: string) => number {
  let mark = 0;
  const markOf = store.untilCommit(() => ++mark);
  return (name) => markOf(name) ?? assert.fail('no mark');
}

test('the mark grows with each commit of any connection and process, and with nothing else', (t) => {
  const { file, store } = opened(t);
  const other = openStore({ file });
  t.after(() => other.close());
  const markOf = marks(store);
  let mark = markOf('');
  const grows = (why: string) => {
    const now = markOf('');
    assert.ok(now > mark, why);
    assert.equal(markOf(''), now, why);
    mark = now;
  };
  const acquire = (from: typeof store) => from.leases.acquire(randomUUID(), 'me', Date.now, 1_000);
  acquire(store);
  grows('this connection');
  acquire(other);
  grows('another connection');
  for (let n = 0; n < 3; n++) {
    inAnotherProcess(file, CHANGE);
    grows('another process');
  }
  inAnotherProcess(file, `PRAGMA wal_checkpoint(TRUNCATE); ${CHANGE}`);
  grows('another process, after the log was emptied');
  assert.throws(() =>
    store.transact(() => {
      acquire(store);
      throw new Error('not this');
    }),
  );
  store.read(() => store.papersVersion());
  inAnotherProcess(file, `BEGIN; ${CHANGE}; ROLLBACK; SELECT * FROM duties`);
  assert.equal(markOf(''), mark, 'reads, and what was taken back');
});

test('there is no mark within a transaction, nor of a database in memory', (t) => {
  const { store } = opened(t);
  const markOf = marks(store);
  const twice = [markOf(''), markOf('')];
  assert.deepEqual(twice, [1, 1]);
  assert.deepEqual(
    store.read(() => [markOf(''), markOf('')]),
    [2, 3],
  );
  const inMemory = openStore({ file: IN_MEMORY });
  t.after(() => inMemory.close());
  const ofMemory = marks(inMemory);
  assert.deepEqual([ofMemory(''), ofMemory('')], [1, 2]);
});

test('the lock of a transaction still keeps other processes out after the mark was read', (t) => {
  const { file, store } = opened(t);
  marks(store)('');
  openStore({ file }).close();
  store.transact(() => {
    assert.throws(() => inAnotherProcess(file, CHANGE), /database is locked/);
  });
});
