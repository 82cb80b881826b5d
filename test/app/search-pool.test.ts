import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { SearchLimits } from '../../src/app/search-pool.ts';
import { SearchPool } from '../../src/app/search-pool.ts';
import { Busy, Fault } from '../../src/fault.ts';
import type { SearchReader } from '../../src/store/search-reader.ts';
import { INTERRUPTED } from '../../src/store/search-reader.ts';
import type { Found, Question } from '../../src/store/search-reads.ts';
import { until } from '../support/program.ts';

const LONG = 60_000;
/** Longer than until the pool looks at the time first, in ms. */
const SOON = 30;
const question = (paper: string, match = 'x'): Question => ({ paper, match });

interface Pool {
  ask(paper: string, match?: string, more?: { caller?: string; isPhrase?: boolean; since?: number }): Promise<string>;
  pool: SearchPool;
  /** How many connections were opened and closed, what they were asked, in that order, and what together. */
  seen: { opened: number; closed: number; asked: string[]; batches: string[] };
  /** Ends all questions `long`. */
  release(): void;
}

/**
 * A pool of connections that answer each question with its text, one at a time unless `limits` say otherwise. `long` is
 * answered when it is released, unless it is interrupted first, `soon` a moment later; `fail` is an error of the
 * database. What is asked together is answered together, or not at all.
 */
function poolOf(t: TestContext, limits: Partial<SearchLimits> = {}, othersDone = () => 0): Pool {
  const seen: Pool['seen'] = { opened: 0, closed: 0, asked: [], batches: [] };
  const held = new Set<() => void>();
  const open = (): SearchReader => {
    seen.opened++;
    let interrupt: () => void = () => undefined;
    return {
      found: (asked) =>
        new Promise<Found[]>((resolve, reject) => {
          const matches = asked.map(({ question }) => question.match);
          seen.asked.push(...matches);
          seen.batches.push(matches.join(' '));
          const answer = () => resolve(matches.map((match) => ({ edition: 1, ids: [match], rows: [] })));
          if (matches.includes('fail')) reject(Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' }));
          else if (matches.includes('soon')) setTimeout(answer, SOON);
          else if (!matches.includes('long')) setImmediate(answer);
          else {
            held.add(answer);
            interrupt = () => {
              held.delete(answer);
              reject(Object.assign(new Error('interrupted'), { code: INTERRUPTED }));
            };
          }
        }),
      interrupt: () => interrupt(),
      close: () => seen.closed++,
    };
  };
  const pool = new SearchPool(
    open,
    {
      readers: 1,
      batch: 1,
      batchTime: LONG,
      wait: LONG,
      quick: LONG,
      slow: LONG,
      ...limits,
    },
    othersDone,
  );
  t.after(() => pool.close());
  return {
    pool,
    seen,
    ask: async (paper, match = 'x', { caller = 'me', isPhrase = false, since = performance.now() } = {}) =>
      (await pool.ask(question(paper, match), { caller, isPhrase, since, wanted: () => [] })).ids.join(),
    release: () => {
      for (const answer of held) answer();
      held.clear();
    },
  };
}

/** A pool that asks eight at a time by now; from `startOthers` on, a request has ended whenever it looks. */
async function warmPool(t: TestContext, limits: Partial<SearchLimits> = {}) {
  let [done, isBeside] = [0, false];
  const pool = poolOf(t, { batch: 8, ...limits }, () => (isBeside ? ++done : done));
  for (let n = 0; n < 8; n++) await pool.ask('p');
  pool.seen.asked.length = 0;
  pool.seen.batches.length = 0;
  const startOthers = () => {
    isBeside = true;
  };
  const stopOthers = () => {
    isBeside = false;
  };
  return { ...pool, startOthers, stopOthers };
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (found) => assert.fail(JSON.stringify(found)),
    (thrown: unknown) => thrown,
  );
}

test('each question gets its own answer, from no more connections than there may be', async (t) => {
  const { ask, pool, seen } = poolOf(t, { readers: 2 });
  const asked = Array.from({ length: 50 }, (_, n) => `${n}`);
  assert.deepEqual(await Promise.all(asked.map((match, n) => ask(`p${n % 3}`, match))), asked);
  assert.equal(seen.opened, 2);
  assert.deepEqual(pool.load, { threads: 2, waiting: 0, answering: 0 });
});

test('those who wait longest and those who find no room are told to ask again', async (t) => {
  const waiting = { all: 3, paper: 3, caller: 3 };
  const { ask } = poolOf(t, { wait: 100, waiting });
  const all = Array.from({ length: 6 }, () => thrownBy(ask('p', 'long')));
  for (const thrown of await Promise.all(all)) {
    assert.ok(thrown instanceof Busy, String(thrown));
    assert.match(thrown.message, /too many searches are waiting/);
  }
  // Nobody waits for what runs, so it was interrupted.
  assert.equal(await until(() => ask('p', 'after').catch(() => null)), 'after');
  // A question whose time is over when it is asked once more does not begin to wait again.
  assert.ok((await thrownBy(ask('p', 'x', { since: performance.now() - 101 }))) instanceof Busy);
});

test('the time in which the server itself stood still is not that of the search', async (t) => {
  const { ask } = poolOf(t, { wait: 100 });
  const answer = ask('p', 'soon');
  // A commit to a slow disk. The answer comes meanwhile, and the pool looks at the time before it is read.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
  assert.equal(await answer, 'soon');
  assert.ok((await thrownBy(ask('p', 'long'))) instanceof Busy, 'the time is over as ever');
});

test('the room is bounded for each caller and each paper too', async (t) => {
  const { ask, release } = poolOf(t, { waiting: { all: 9, paper: 4, caller: 2 } });
  const told: string[] = [];
  const all = ['a', 'a', 'a', 'a', 'b', 'b', 'b'].map((caller) =>
    ask('p', 'long', { caller }).catch((fault: unknown) => told.push(`${caller} ${fault instanceof Busy}`)),
  );
  all.push(ask('q', 'long', { caller: 'a' }));
  await until(() => told.length === 2 || null);
  assert.deepEqual(told, ['a true', 'b true'], 'the caller’s third that waits, and the paper’s fifth');
  const ended = Promise.all(all);
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    release();
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('what holds up the quick lane begins anew in the slow one, and others are answered meanwhile', async (t) => {
  const { ask, pool, seen, release } = poolOf(t, { quick: 0 });
  const long = ask('p', 'long');
  assert.deepEqual(await Promise.all(['a', 'b'].map((match) => ask('p', match))), ['a', 'b']);
  await until(() => seen.asked.filter((match) => match === 'long').length === 2 || null);
  assert.deepEqual(pool.load, { threads: 2, waiting: 0, answering: 1 });
  release();
  assert.equal(await long, 'long');
});

test('a phrase takes the slow lane at once', async (t) => {
  const { ask, seen, release } = poolOf(t);
  const phrases = ['long', 'x'].map((match) => ask('p', match, { isPhrase: true }));
  assert.equal(await ask('p', 'a'), 'a');
  assert.deepEqual(seen.asked, ['long', 'a'], 'one phrase at a time');
  release();
  assert.deepEqual(await Promise.all(phrases), ['long', 'x']);
});

test('in the slow lane a question makes way for other callers, not for its own', async (t) => {
  const { ask, seen, release } = poolOf(t, { slow: 0 });
  const phrase = (match: string, caller: string) => ask('p', match, { caller, isPhrase: true });
  const own = [phrase('long', 'one'), phrase('x', 'one')];
  assert.equal(await phrase('y', 'other'), 'y');
  await until(() => seen.asked.length === 4 || null);
  assert.deepEqual(seen.asked, ['long', 'x', 'y', 'long']);
  release();
  assert.deepEqual(await Promise.all(own), ['long', 'x']);
});

test('a connection that does not open has everybody told, and the next question tries again', async (t) => {
  let isThere = false;
  const open = (): SearchReader => {
    if (!isThere) throw new Error('no room');
    return { found: async () => [{ edition: 1, ids: ['a'], rows: [] }], interrupt() {}, close() {} };
  };
  const pool = new SearchPool(open);
  t.after(() => pool.close());
  const asker = { caller: 'me', isPhrase: false, since: performance.now(), wanted: () => [] };
  for (const fault of await Promise.all(['p', 'q'].map((paper) => thrownBy(pool.ask(question(paper), asker))))) {
    assert.ok(fault instanceof Fault && fault.code === 'unavailable', String(fault));
    assert.match(fault.message, /no room/);
  }
  isThere = true;
  assert.deepEqual((await pool.ask(question('p'), asker)).ids, ['a']);
});

test('an error of the database is the error of its question alone', async (t) => {
  const { ask } = poolOf(t);
  const [fault, found] = await Promise.all([thrownBy(ask('p', 'fail')), ask('p', 'a')]);
  assert.deepEqual(
    { ...(fault as object), message: (fault as Error).message },
    { code: 'SQLITE_CORRUPT', message: 'malformed' },
  );
  assert.equal(found, 'a');
});

test('the more quickly questions are answered, the more are asked together', async (t) => {
  const { ask, seen } = poolOf(t, { batch: 3 });
  const matches = Array.from({ length: 9 }, (_, n) => `${n}`);
  assert.deepEqual(await Promise.all(matches.map((match) => ask('p', match))), matches);
  assert.deepEqual(seen.batches, ['0', '1 2', '3 4 5', '6 7 8']);
  const slow = poolOf(t, { batch: 3, batchTime: -1 });
  assert.deepEqual(await Promise.all(matches.map((match) => slow.ask('p', match))), matches);
  assert.deepEqual(slow.seen.batches, matches, 'each by itself where that takes long');
});

test('answers are given together, and many are found at once, while nobody else asks', async (t) => {
  const { ask, seen } = await warmPool(t, { pace: LONG });
  await Promise.all(Array.from({ length: 99 }, () => ask('p')));
  assert.ok(seen.batches.some((batch) => batch.split(' ').length === 8));
});

test('while others ask, answers wait for each other, and questions for answers', async (t) => {
  const { ask, pool, seen, startOthers } = await warmPool(t, { pace: LONG });
  startOthers();
  const all = Array.from({ length: 99 }, () => ask('p'));
  let answered = 0;
  for (const one of all) void one.then(() => answered++).catch(() => undefined);
  await until(() => seen.asked.length > 0 || null);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(answered, 0, 'one was given just before');
  const found = seen.asked.length;
  assert.ok(found <= 2, `${found} were found while their callers could not be told`);
  pool.close();
  const told = await Promise.allSettled(all);
  assert.equal(told.filter(({ status }) => status === 'fulfilled').length, found, 'what was found is told');
});

test('while others ask, few are found at once and all are answered; then as many as before', async (t) => {
  const { ask, seen, startOthers, stopOthers } = await warmPool(t);
  startOthers();
  await Promise.all(Array.from({ length: 40 }, () => ask('p')));
  assert.ok(
    seen.batches.every((batch) => batch.split(' ').length <= 2),
    `${seen.batches}`,
  );
  stopOthers();
  await new Promise((resolve) => setTimeout(resolve, 2 * SOON));
  await Promise.all(Array.from({ length: 99 }, () => ask('p')));
  assert.ok(seen.batches.some((batch) => batch.split(' ').length === 8));
});

test('what fails among others is asked by itself, and the others are answered', async (t) => {
  const { ask, seen } = poolOf(t, { batch: 4 });
  for (const match of ['w', 'a', 'r', 'm']) await ask('p', match);
  seen.batches.length = 0;
  const first = ask('p', 'first');
  const [fault, ...found] = await Promise.all([thrownBy(ask('p', 'fail')), ask('p', 'a'), ask('q', 'b'), first]);
  assert.equal((fault as { code?: string }).code, 'SQLITE_CORRUPT');
  assert.deepEqual(found, ['a', 'b', 'first']);
  assert.deepEqual(seen.batches, ['first', 'fail b a', 'fail', 'b', 'a']);
});

test('what keeps others waiting among others is found, and they wait for it once more at most', async (t) => {
  const { ask, seen, release } = poolOf(t, { batch: 4, quick: 0 });
  for (const match of ['w', 'a', 'r', 'm']) await ask('p', match);
  seen.batches.length = 0;
  const first = ask('p', 'first');
  const long = ['long', 'long', 'long'].map((match) => ask('p', match, { caller: 'one' }));
  assert.equal(await ask('p', 'a', { caller: 'another' }), 'a');
  assert.deepEqual(seen.batches.slice(0, 3), ['first', 'long a long long', 'long']);
  assert.ok(seen.batches.indexOf('a') <= 4, `${seen.batches}: the callers take turns`);
  const done = Promise.all([first, ...long]);
  let isOver = false;
  void done.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    release();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await done, ['first', 'long', 'long', 'long']);
});

test('papers take turns, and so do the callers of a paper', async (t) => {
  const { ask, seen } = poolOf(t);
  await Promise.all([
    ...Array.from({ length: 9 }, (_, n) => ask('busy', `b${n}`)),
    ask('busy', 'other', { caller: 'other' }),
    ask('quiet', 'q'),
  ]);
  assert.deepEqual(seen.asked.slice(0, 5), ['b0', 'b1', 'q', 'other', 'b2']);
});

test('closing answers everybody, and idle connections are closed', async (t) => {
  const { ask, pool, seen } = poolOf(t, { idle: 20 });
  assert.equal(await ask('p', 'a'), 'a');
  await until(() => seen.closed === 1 || null);
  assert.equal(await ask('p', 'a'), 'a');
  const waiting = ['long', 'a', 'b', 'c'].map((match) => thrownBy(ask('p', match)));
  pool.close();
  for (const thrown of await Promise.all(waiting)) assert.ok(thrown instanceof Busy, String(thrown));
  assert.ok((await thrownBy(ask('p'))) instanceof Busy);
  await until(() => seen.closed === seen.opened || null);
});
