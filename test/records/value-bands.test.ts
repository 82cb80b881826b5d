import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SIGNAL_TYPES } from '../../src/proof/records/signal.ts';
import { SIGNAL_MEANINGS } from '../../src/records/signal-meanings.ts';
import { stateBands, valueBands } from '../../src/records/value-bands.ts';

const sighting = (value: string, first_seen: number, last_seen: number) =>
  ({ signal: 'A', value, first_seen, last_seen, count: 1 }) as const;
const change = (at: number, before: string[], after: string[]) => ({ at, signal: 'A' as const, before, after });
const now = (...values: string[]) => ({ A: { values, missing: [] } });

test('a value has a band for each time that it stood', () => {
  const changes = [change(20, ['x', 'y'], ['y']), change(30, ['y'], ['x', 'y']), change(40, ['x', 'y'], ['y', 'z'])];
  assert.deepEqual(
    valueBands([sighting('x', 10, 39), sighting('y', 10, 50), sighting('z', 40, 50)], changes, now('y', 'z')),
    [
      {
        signal: 'A',
        value: 'x',
        bands: [
          { from: 10, to: 20 },
          { from: 30, to: 40 },
        ],
      },
      { signal: 'A', value: 'y', bands: [{ from: 10, to: null }] },
      { signal: 'A', value: 'z', bands: [{ from: 40, to: null }] },
    ],
  );
});

test('a change of another signal, or of the first observation, ends nothing', () => {
  const other = { ...change(20, ['x'], []), signal: 'TXT' as const };
  assert.deepEqual(valueBands([sighting('x', 20, 20)], [other, change(20, [], ['x'])], now('x')), [
    { signal: 'A', value: 'x', bands: [{ from: 20, to: null }] },
  ]);
});

test('an answer that a rotating pool gave without a change stood until it was last seen', () => {
  assert.deepEqual(valueBands([sighting('x', 10, 25)], [], now('y')), [
    { signal: 'A', value: 'x', bands: [{ from: 10, to: 25 }] },
  ]);
});

test('a signal has a band between each two changes, with the number of its values', () => {
  assert.deepEqual(stateBands([], 10, 2), [{ from: 10, to: null, count: 2 }]);
  assert.deepEqual(stateBands([change(20, ['x'], ['x', 'y']), change(30, ['x', 'y'], [])], 10, 0), [
    { from: 10, to: 20, count: 1 },
    { from: 20, to: 30, count: 2 },
    { from: 30, to: null, count: 0 },
  ]);
  assert.deepEqual(stateBands([change(10, [], ['x'])], 10, 1), [{ from: 10, to: null, count: 1 }]);
});

test('500 values and 500 changes of as many values take linear time: each value of a change is looked at once', () => {
  let looks = 0;
  const counted = Array.from({ length: 500 }, (_, n) => `v${n}`);
  const watched = new Proxy(counted, {
    get(target, property) {
      if (typeof property === 'string' && /^\d+$/.test(property)) looks++;
      return Reflect.get(target, property);
    },
  });
  const changes = Array.from({ length: 500 }, (_, n) => change(n + 2, watched, watched));
  valueBands(
    counted.map((value) => sighting(value, 1, 999)),
    changes,
    now(...counted),
  );
  assert.ok(looks <= 2 * 500 * 500, `${looks}`);
});

test('each signal has a meaning, and the manual has the same', () => {
  assert.deepEqual(Object.keys(SIGNAL_MEANINGS), [...SIGNAL_TYPES, 'CERTIFICATE']);
  const manual = readFileSync(new URL('../../docs/domain-records.md', import.meta.url), 'utf8').replaceAll(
    / {2,}/g,
    ' ',
  );
  for (const [signal, { title, meaning }] of Object.entries(SIGNAL_MEANINGS)) {
    assert.ok(manual.includes(`| \`${signal}\` | ${title} | ${meaning} |`), signal);
  }
});
