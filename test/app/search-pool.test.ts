import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { SearchLimits } from '../../src/app/search-pool.ts';
import { SearchPool } from '../../src/app/search-pool.ts';
import { Busy, Fault } from '../../src/fault.ts';
import type { Found, Question } from '../../src/store/search-reads.ts';
import { tempFolder } from '../support/app-context.ts';

const LONG = 60_000;
const HERE: Found = { edition: 1, ids: ['here'] };
const question = (paper: string, match = 'x'): Question => ({ paper, match, limit: 1 });

/** A pool with threads of this code, which answers nothing on the test's own thread unless `limits` say so. */
function poolOf(t: TestContext, code: string, limits: Partial<SearchLimits> = {}): SearchPool {
  const file = join(tempFolder(t), 'thread.mjs');
  writeFileSync(
    file,
    `import { parentPort } from 'node:worker_threads';
     const answer = (match) => parentPort.postMessage({ edition: 1, ids: [match] });
     ${code}
     parentPort.postMessage('ready');`,
  );
  const pool = new SearchPool('', () => HERE, {
    code: pathToFileURL(file),
    here: 0,
    threads: 1,
    wait: LONG,
    ...limits,
  });
  t.after(() => pool.close());
  return pool;
}

/** Answers each question with its text; `die` ends the thread, and `wait` is never answered. */
const ANSWERS = `parentPort.on('message', ({ match }) => {
  if (match === 'die') process.exit(1);
  if (match === 'fail') parentPort.postMessage({ failure: 'malformed', code: 'SQLITE_CORRUPT' });
  else if (match === 'wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  else answer(match);
});`;

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (found) => assert.fail(JSON.stringify(found)),
    (thrown: unknown) => thrown,
  );
}

test('questions are answered by threads, each by the answer to itself', async (t) => {
  const pool = poolOf(t, ANSWERS, { threads: 2 });
  const asked = Array.from({ length: 50 }, (_, n) => `${n}`);
  const found = await Promise.all(asked.map((match, n) => pool.ask(question(`p${n % 3}`, match))));
  assert.deepEqual(
    found.map(({ ids }) => ids[0]),
    asked,
  );
});

test('while the first thread starts, a few questions are answered here, and no more', async (t) => {
  const pool = poolOf(t, ANSWERS, { here: 2 });
  const found = await Promise.all(['a', 'b', 'c'].map((match) => pool.ask(question('p', match))));
  assert.deepEqual(
    found.map(({ ids }) => ids[0]),
    ['here', 'here', 'c'],
  );
  assert.deepEqual((await pool.ask(question('p', 'd'))).ids, ['d'], 'a thread is ready');
});

test('a thread that is too slow has questions refused, those that wait longest and those that find no room', async (t) => {
  const pool = poolOf(t, ANSWERS, { wait: 100, waiting: 3 });
  const all = ['wait', 'a', 'b', 'c', 'd', 'e'].map((match) => thrownBy(pool.ask(question('p', match))));
  for (const thrown of await Promise.all(all)) {
    assert.ok(thrown instanceof Busy, String(thrown));
    assert.match(thrown.message, /too many searches are waiting/);
  }
  // A question whose time is over when it is asked once more does not begin to wait again.
  assert.ok((await thrownBy(pool.ask(question('p'), performance.now() - 101))) instanceof Busy);
});

test('a dead thread takes nobody with it but the question that kills every thread', async (t) => {
  const pool = poolOf(t, ANSWERS);
  const killer = thrownBy(pool.ask(question('p', 'die')));
  const found = await Promise.all(['a', 'b', 'c'].map((match) => pool.ask(question('p', match))));
  assert.deepEqual(
    found.map(({ ids }) => ids[0]),
    ['a', 'b', 'c'],
  );
  const thrown = await killer;
  assert.ok(thrown instanceof Fault && thrown.code === 'unavailable', String(thrown));
  assert.deepEqual((await pool.ask(question('p', 'd'))).ids, ['d']);
});

test('a thread that cannot start has everybody told, and the next question tries again', async (t) => {
  const pool = poolOf(t, `throw new Error('no room');`);
  for (const _ of [1, 2]) {
    const thrown = await Promise.all(['a', 'b'].map((match) => thrownBy(pool.ask(question('p', match)))));
    for (const fault of thrown) assert.match(String(fault), /the thread that searches failed: no room/);
  }
});

test('an error of the database is the error of its question alone', async (t) => {
  const pool = poolOf(t, ANSWERS);
  const [fault, found] = await Promise.all([thrownBy(pool.ask(question('p', 'fail'))), pool.ask(question('p', 'a'))]);
  assert.deepEqual(
    { ...(fault as object), message: (fault as Error).message },
    { code: 'SQLITE_CORRUPT', message: 'malformed' },
  );
  assert.deepEqual(found.ids, ['a']);
});

test('papers take turns', async (t) => {
  const pool = poolOf(t, ANSWERS);
  const order: string[] = [];
  const ask = async (paper: string, match: string) => {
    await pool.ask(question(paper, match));
    order.push(match);
  };
  await Promise.all([...Array.from({ length: 9 }, (_, n) => ask('busy', `b${n}`)), ask('quiet', 'q')]);
  assert.equal(order.indexOf('q'), 1, String(order));
});

test('closing answers everybody, and an idle thread ends by itself', async (t) => {
  const pool = poolOf(t, ANSWERS, { idle: 20, here: 1 });
  assert.deepEqual((await pool.ask(question('p'))).ids, ['here']);
  assert.deepEqual((await pool.ask(question('p', 'a'))).ids, ['a']);
  // Once the thread has ended, a question is answered here again.
  for (let ids = ['a']; ids[0] !== 'here'; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    ({ ids } = await pool.ask(question('p', 'a')));
  }
  const waiting = ['wait', 'a', 'b', 'c'].map((match) => thrownBy(pool.ask(question('p', match))));
  pool.close();
  for (const thrown of await Promise.all(waiting)) assert.ok(thrown instanceof Busy, String(thrown));
  assert.ok((await thrownBy(pool.ask(question('p')))) instanceof Busy);
});
