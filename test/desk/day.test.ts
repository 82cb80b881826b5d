import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDay } from '../../src/proof/time.ts';

test('a day is one of the calendar', () => {
  for (const day of ['2026-11-20', '2024-02-29', '0001-01-01']) assert.equal(isDay(day), true, day);
  for (const day of ['2026-02-29', '2026-11-31', '2026-13-01', '2026-1-1', '20261120', '', '2026-11-20T00:00:00Z'])
    assert.equal(isDay(day), false, day);
});
