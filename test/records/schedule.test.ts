import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorOf } from '../../src/records/hostname.ts';
import { CONFIRM_AFTER, nextProbeAt, observedAt, RETRY_AFTER } from '../../src/records/recording.ts';
import * as fc from '../support/properties.ts';

const DAY = 86_400_000;
const now = Date.UTC(2026, 10, 20);
const outcome = { now, every: DAY, unconfirmed: false, failures: 0, random: 0.5 };
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('the next probe is after the interval, with jitter', () => {
  assert.equal(nextProbeAt(outcome), now + DAY);
  fc.assert(
    fc.property(random, fc.integer({ min: 1, max: 30 * DAY }), (chance, every) => {
      const wait = nextProbeAt({ ...outcome, every, random: chance }) - now;
      assert(wait >= Math.floor(every * 0.95) && wait <= Math.ceil(every * 1.05));
    }),
  );
});

test('a missing value is probed again soon, a silent host less and less often', () => {
  assert.equal(nextProbeAt({ ...outcome, unconfirmed: true }), now + CONFIRM_AFTER);
  const waits = [1, 2, 3, 4, 9, 99, 1e6].map((failures) => nextProbeAt({ ...outcome, failures }) - now);
  assert.deepEqual(waits, [RETRY_AFTER, 2 * RETRY_AFTER, 4 * RETRY_AFTER, 8 * RETRY_AFTER, DAY, DAY, DAY]);
  assert.equal(
    nextProbeAt({ ...outcome, every: 1000, unconfirmed: true }),
    now + 1000,
    'never later than the interval',
  );
  assert.equal(nextProbeAt({ ...outcome, every: 1000, failures: 3 }), now + 1000);
});

test('the time of an observation is never in the future and never decreases', () => {
  const time = fc.integer({ min: 0, max: 4e12 });
  fc.assert(
    fc.property(fc.array(fc.tuple(time, time), { minLength: 1, maxLength: 20 }), (clock) => {
      let last: number | null = null;
      let latest = 0;
      for (const [looked, present] of clock) {
        latest = Math.max(latest, present);
        const at = observedAt(looked, present, last);
        assert(last === null || at >= last);
        assert(at <= latest);
        if (looked <= present && looked >= (last ?? 0)) assert.equal(at, looked);
        last = at;
      }
    }),
  );
});

test('an operator is whose name servers are asked, else who registered the name', () => {
  assert.equal(operatorOf('www.example.com', ['ns1.p.dynect.net']), 'dynect.net');
  assert.equal(operatorOf('www.example.com', []), 'example.com');
  assert.equal(operatorOf('co.uk', []), 'co.uk');
});
