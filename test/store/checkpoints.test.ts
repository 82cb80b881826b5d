import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lockFile } from '../../src/shared/sql/file-lock.ts';
import { openStore } from '../../src/store/store.ts';
import { endBeforeRemoval, tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const WRITER = fileURLToPath(new URL('./checkpoint-child.ts', import.meta.url));
/** For how long the processes write, in seconds: a minute in `.ci/wide checkpoints`. */
const SECONDS = Number(process.env.CHECKPOINT_SECONDS ?? 2);

const databaseIn = (t: TestContext): string => join(tempFolder(t), 'broadsheet.db');

/** A connection that appends leaves of 4 kB, and how many the file has without its write-ahead log. */
function writer(t: TestContext, file: string) {
  const store = openStore({ file, checkpointPages: 5 });
  t.after(() => store.database.close());
  let n = 0;
  return {
    append: (count: number) => {
      for (let end = n + count; n < end; n++)
        store.database.transact(() =>
          store.database.log.append('desk', `${process.hrtime.bigint()}${'x'.repeat(4_000)}\n`),
        );
    },
  };
}

const sizeOf = (file: string): number => statSync(file).size;

test('who commits moves the log into the database, unless another is at it', (t) => {
  const file = databaseIn(t);
  const [one, other] = [writer(t, file), writer(t, file)];
  one.append(20);
  const lock = lockFile(`${file}-checkpoints`);
  const before = sizeOf(file);
  one.append(50);
  other.append(50);
  assert.equal(sizeOf(file), before);
  lock?.();
  other.append(1);
  assert(sizeOf(file) > before + 100 * 4_000);
});

test('beside Litestream no process checkpoints', { skip: ONLY_WIDE }, async (t) => {
  const file = databaseIn(t);
  mkdirSync(join(file, '../.broadsheet.db-litestream'));
  const one = writer(t, file);
  one.append(1);
  const before = sizeOf(file);
  one.append(100);
  assert.equal(sizeOf(file), before);
});

// One process that checkpoints beside another that writes made databases unsound within a minute, when the first was
// stopped at random, and SQLite before 3.51.3 may do that on any loaded machine.
test('processes that write concurrently and are killed at random leave a sound database', {
  skip: ONLY_WIDE,
}, async (t) => {
  const file = databaseIn(t);
  openStore({ file }).database.close();
  const writers = ['a', 'b', 'c'].map((name) => {
    const child = spawn(process.execPath, [WRITER, file, name], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    endBeforeRemoval(join(file, '..'), async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return { child, said: text(child.stdout) };
  });
  const end = performance.now() + SECONDS * 1_000;
  for (let n = 0; performance.now() < end; n++) {
    const child = writers[n % writers.length]?.child;
    child?.kill('SIGSTOP');
    await sleep(3);
    child?.kill('SIGCONT');
    await sleep(Math.random() * 2);
  }
  for (const { child } of writers) child.stdin.end();
  const counts = await Promise.all(writers.map(async ({ said }) => Number(await said)));
  const store = openStore({ file });
  t.after(() => store.database.close());
  assert.deepEqual(store.database.integrity(), []);
  assert.equal(
    store.database.log.size('desk'),
    counts.reduce((sum, count) => sum + count, 0),
  );
  t.diagnostic(`${counts.join(', ')} leaves`);
});
