import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hourly } from '../../src/shared/workers/poll.ts';
import { clockOf } from '../../src/signing/clock/clock-guard.ts';

const MINUTE = 60_000;

test('a sweep runs once an hour, even after a failure and with any clock', () => {
  const swept: number[] = [];
  let fails = false;
  const sweep = hourly({ clock: clockOf(() => 0) }, (now) => {
    if (fails) throw new Error('the database is locked');
    swept.push(now);
  });
  const start = 100 * 24 * 60 * MINUTE;
  for (const minutes of [0, 1, 59, 60, 61]) sweep(start + minutes * MINUTE);
  assert.deepEqual(swept.splice(0), [start, start + 60 * MINUTE]);
  fails = true;
  assert.throws(() => sweep(start + 120 * MINUTE), /locked/);
  fails = false;
  sweep(start + 121 * MINUTE);
  assert.deepEqual(swept, [], 'its job goes on without it');
  sweep(start + 180 * MINUTE);
  assert.deepEqual(swept.splice(0), [start + 180 * MINUTE]);
  const setBack = start - 24 * 60 * MINUTE;
  sweep(setBack);
  sweep(setBack + MINUTE);
  assert.deepEqual(swept, [setBack], 'a clock that was set back puts off nothing');
});

test('while the clock is known to be wrong, nothing counts as old', () => {
  const swept: number[] = [];
  let isWrong = false;
  const clock = clockOf(() => 0);
  clock.check = { fault: () => (isWrong ? { kind: 'jumped' as const, message: 'it jumped' } : null) };
  const sweep = hourly({ clock }, (now) => swept.push(now));
  const start = 100 * 24 * 60 * MINUTE;
  sweep(start);
  isWrong = true;
  sweep(start + 365 * 24 * 60 * MINUTE);
  isWrong = false;
  sweep(start + 60 * MINUTE);
  assert.deepEqual(swept, [start, start + 60 * MINUTE]);
});
