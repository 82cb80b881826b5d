import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, longDay, monthOf, plainDay, shortDay } from '../../src/parts/dates.ts';

const FORMS = [
  [longDay, { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }],
  [plainDay, { year: 'numeric', month: 'long', day: 'numeric' }],
  [shortDay, { year: 'numeric', month: 'short', day: 'numeric' }],
  [monthOf, { year: 'numeric', month: 'long' }],
  [clock, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }],
] as const;

test('a date that was printed before is the same text, and no other date has it', () => {
  // Days, hours and languages mixed, more than are kept, and all of them twice.
  const times = Array.from({ length: 2_500 }, (_, n) => new Date(Date.UTC(2019, 0, 1) + n * 89_400_000).toISOString());
  for (const [print, options] of FORMS) {
    for (const language of ['en', 'ar']) {
      const format = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
      for (const iso of [...times, ...times]) assert.equal(print(language, iso), format.format(new Date(iso)));
    }
  }
  assert.throws(() => plainDay('en', 'no time'), RangeError);
  assert.throws(() => plainDay('en', 'no time'), RangeError);
});
