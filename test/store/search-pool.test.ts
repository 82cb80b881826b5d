import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type SearchLimits, SearchPool } from '../../src/server/search-pool.ts';
import { Busy, Fault } from '../../src/shared/fault.ts';
import { type Found, INTERRUPTED, type SearchReader } from '../../src/store/desk/search-reader.ts';
import { until } from '../support/program.ts';

const LONG = 60_000;
/** A moment, in ms. */
const SOON = 30;

interface Pool {
  ask(match: string, more?: { caller?: string; since?: number }): Promise<string>;
  pool: SearchPool;
  /** How many connections were opened and closed, and what they were asked, in order. */
  seen: { opened: number; closed: number; asked: string[] };
  /** Answers all questions `long` that are running. */
  release(): void;
}

/**
 * A pool of connections that answer each question with its text. `long` is answered when it is released, unless it is
 * interrupted first, `soon` a moment later; `fail` is an error of the database.
 */
function poolOf(t: TestContext, limits: Partial<SearchLimits> = {}): Pool {
  const seen: Pool['seen'] = { opened: 0, closed: 0, asked: [] };
  const held = new Set<() => void>();
  const open = (): SearchReader => {
    seen.opened++;
    let interrupt: () => void = () => undefined;
    return {
      found: ({ match }) =>
        new Promise<Found>((resolve, reject) => {
          seen.asked.push(match);
          const answer = () => resolve({ edition: 1, ids: [match] });
          if (match === 'fail') reject(Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' }));
          else if (match === 'soon') setTimeout(answer, SOON);
          else if (match !== 'long') setImmediate(answer);
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
  const pool = new SearchPool(open, { connections: 1, deadline: LONG, turn: LONG, ...limits });
  t.after(() => pool.close());
  return {
    pool,
    seen,
    ask: async (match, { caller = 'me', since = performance.now() } = {}) =>
      (await pool.ask({ paper: 'p', match }, caller, since)).ids.join(),
    release: () => {
      for (const answer of held) answer();
      held.clear();
    },
  };
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (found) => assert.fail(JSON.stringify(found)),
    (thrown: unknown) => thrown,
  );
}

test('each question gets its own answer, from no more connections than there may be', async (t) => {
  const { ask, pool, seen } = poolOf(t, { connections: 2 });
  const asked = Array.from({ length: 50 }, (_, n) => `${n}`);
  assert.deepEqual(await Promise.all(asked.map((match) => ask(match))), asked);
  assert.equal(seen.opened, 2);
  assert.deepEqual(pool.load, { threads: 2, waiting: 0, answering: 0 });
});

test('a search is refused at its deadline, whether it waits or runs, and what runs is interrupted', async (t) => {
  const { ask, pool, seen } = poolOf(t, { deadline: 100, turn: 20 });
  const all = Array.from({ length: 4 }, () => thrownBy(ask('long')));
  assert.equal(pool.load.waiting, 3);
  for (const thrown of await Promise.all(all)) {
    assert.ok(thrown instanceof Busy, String(thrown));
    assert.match(thrown.message, /too many searches are waiting/);
  }
  await until(() => pool.load.answering === 0 || null);
  assert.equal(await ask('after'), 'after');
  assert.equal(seen.opened, 2, 'the connections go on');
  // A question whose time is over when it is asked once more does not begin to wait again.
  assert.ok((await thrownBy(ask('x', { since: performance.now() - 101 }))) instanceof Busy);
});

test('an answer that arrives while the server stands still is given', async (t) => {
  const { ask } = poolOf(t, { deadline: 100 });
  const answer = ask('soon');
  // A commit to a slow disk.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
  assert.equal(await answer, 'soon');
  assert.ok((await thrownBy(ask('long'))) instanceof Busy);
});

test('one caller may have so many searches waiting, and others are not refused for it', async (t) => {
  const { ask, pool } = poolOf(t, { waiting: 2 });
  const own = ['long', 'x', 'y'].map((match) => ask(match));
  assert.ok((await thrownBy(ask('z'))) instanceof Busy);
  const other = ask('x', { caller: 'other' });
  pool.close();
  await Promise.allSettled([...own, other]);
});

test('a search that exceeds its turn begins anew in the slow lane, and others are answered meanwhile', async (t) => {
  const { ask, pool, seen, release } = poolOf(t, { turn: 20 });
  const long = ask('long');
  assert.deepEqual(await Promise.all(['a', 'b'].map((match) => ask(match))), ['a', 'b']);
  await until(() => seen.asked.filter((match) => match === 'long').length === 2 || null);
  assert.deepEqual(pool.load, { threads: 2, waiting: 0, answering: 1 });
  release();
  assert.equal(await long, 'long');
});

test('costly searches of one caller leave the quick lane to another', async (t) => {
  const { ask } = poolOf(t, { turn: 10 });
  const costly = Array.from({ length: 20 }, () => thrownBy(ask('long')));
  for (let n = 0; n < 5; n++) assert.equal(await ask(`${n}`, { caller: 'other' }), `${n}`);
  const left = await Promise.race([Promise.all(costly), 'running']);
  assert.equal(left, 'running');
});

test('callers take turns', async (t) => {
  const { ask, seen } = poolOf(t);
  await Promise.all([
    ...Array.from({ length: 5 }, (_, n) => ask(`m${n}`)),
    ask('a', { caller: 'a' }),
    ask('b', { caller: 'b' }),
  ]);
  assert.deepEqual(seen.asked, ['m0', 'm1', 'a', 'b', 'm2', 'm3', 'm4']);
});

test('a connection that does not open is the fault of its search, and the next one tries again', async (t) => {
  let isThere = false;
  const open = (): SearchReader => {
    if (!isThere) throw new Error('no room');
    return { found: async () => ({ edition: 1, ids: ['a'] }), interrupt() {}, close() {} };
  };
  const pool = new SearchPool(open);
  t.after(() => pool.close());
  const ask = () => pool.ask({ paper: 'p', match: 'x' }, 'me', performance.now());
  for (const fault of await Promise.all([thrownBy(ask()), thrownBy(ask())])) {
    assert.ok(fault instanceof Fault && fault.code === 'unavailable', String(fault));
    assert.match(fault.message, /no room/);
  }
  isThere = true;
  assert.deepEqual((await ask()).ids, ['a']);
});

test('an error of the database is the error of its search alone, and its connection is replaced', async (t) => {
  const { ask, seen } = poolOf(t);
  const [fault, found] = await Promise.all([thrownBy(ask('fail')), ask('a')]);
  assert.deepEqual(
    { ...(fault as object), message: (fault as Error).message },
    { code: 'SQLITE_CORRUPT', message: 'malformed' },
  );
  assert.equal(found, 'a');
  assert.deepEqual([seen.opened, seen.closed], [2, 1]);
});

test('closing refuses all searches and closes every connection', async (t) => {
  const { ask, pool, seen } = poolOf(t);
  const waiting = ['long', 'a', 'b', 'c'].map((match) => thrownBy(ask(match)));
  pool.close();
  for (const thrown of await Promise.all(waiting)) assert.ok(thrown instanceof Busy, String(thrown));
  assert.ok((await thrownBy(ask('x'))) instanceof Busy);
  await until(() => seen.closed === seen.opened || null);
});
