import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MARKS_MAX, tooManyMarksAt } from '../../src/shared/combining-marks.ts';

test('a run of too many marks is found at any position; the longest allowed one passes', () => {
  for (const mark of ['\u0301', '\u00ad', '\u200d', '\uff9e', '\u{1d167}', '\u{e0100}']) {
    for (let before = 0; before <= 2 * MARKS_MAX; before += 7) {
      const [start, end] = ['x’'.repeat(before), 'y'.repeat(before)];
      const at = start === '' ? 0 : start.length - 1;
      assert.equal(tooManyMarksAt(start + mark.repeat(MARKS_MAX + 1) + end), at, `${before} before ${mark}`);
      assert.equal(tooManyMarksAt(start + mark.repeat(MARKS_MAX) + end), null, `${before} before ${mark}`);
    }
  }
});
