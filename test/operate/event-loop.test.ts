import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELAY_LOGGED, EventLoop } from '../../src/shared/workers/event-loop.ts';

interface Line {
  delay_ms: number;
  cpu_ms: number;
  ran: Record<string, string | number>[];
  running: number;
  unlogged: number;
}

/** A loop under a clock that the test sets forward, by ticks of its own, and what it logged. */
function standing() {
  const clock = { now: 0 };
  const lines: Line[] = [];
  const logger = { warn: (line: unknown) => void lines.push(line as Line) };
  const loop = new EventLoop(() => clock.now);
  loop.watch(logger)();
  loop.tick(logger);
  const tickAfter = (ms: number): void => {
    clock.now += ms;
    loop.tick(logger);
  };
  return { loop, clock, lines, tickAfter };
}

test('a delay is logged with its requests and jobs, including those that ended in it', () => {
  const { loop, clock, lines, tickAfter } = standing();
  loop.began({ job: 'press', paper: 'p' });
  const quick = loop.began({ request_id: 'q', method: 'GET', path: '/quick' });
  quick();
  const slow = loop.began({ request_id: 's', method: 'POST', path: '/p/api/v1/stories' });
  clock.now += 500;
  slow();
  tickAfter(20);
  const [line] = lines;
  assert.equal(lines.length, 1);
  assert.deepEqual(
    [line?.delay_ms, line?.ran.map(({ job, path }) => job ?? path)],
    [500, ['/p/api/v1/stories', 'press']],
    JSON.stringify(line),
  );
  // The next one was not under way in this delay.
  tickAfter(2_000);
  assert.deepEqual(
    lines[1]?.ran.map(({ job, path }) => job ?? path),
    ['press'],
  );
});

test('a tick in time logs nothing, and a loop that is always late logs one line a second', () => {
  const { lines, tickAfter } = standing();
  for (let at = 0; at < 50; at++) tickAfter(21 + DELAY_LOGGED);
  tickAfter(20);
  // 11 seconds of it: a line each, and each says how many there were before it.
  assert.ok(lines.length >= 9 && lines.length <= 12, `${lines.length} lines`);
  assert.ok(lines.slice(1).every(({ unlogged }) => unlogged > 0));
});

test('the worst delay is that of the last minute', () => {
  const { loop, clock, tickAfter } = standing();
  assert.equal(loop.worst(), 0);
  tickAfter(320);
  tickAfter(120);
  assert.equal(loop.worst(), 300);
  clock.now += 30_000;
  const until = clock.now + 29_000;
  // Late by itself: nothing ticked for half a minute.
  assert.equal(loop.worst(), 29_980);
  while (clock.now < until) tickAfter(1_000);
  assert.equal(loop.worst(), 30_980);
  for (let at = 0; at < 61; at++) tickAfter(1_000);
  assert.equal(loop.worst(), 980);
});

test('what blocks this thread is measured and logged', async () => {
  const lines: Line[] = [];
  const loop = new EventLoop();
  const logger = { warn: (line: unknown) => void lines.push(line as Line) };
  const stop = loop.watch(logger);
  const ended = loop.began({ job: 'test' });
  const until = performance.now() + 2 * DELAY_LOGGED;
  while (performance.now() < until);
  ended();
  while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop();
  assert.ok((lines[0]?.delay_ms ?? 0) > DELAY_LOGGED);
  assert.deepEqual(lines[0]?.ran[0]?.job, 'test');
  assert.ok(loop.worst() > DELAY_LOGGED);
});
