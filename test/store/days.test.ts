import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';

// A day of UTC that a later one has followed is over, whatever the clock says since.

const NOON = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LIMITS = { daily: 2, perMinute: 1_000 };

function opened(t: TestContext) {
  const store = openStore({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => store.database.close());
  for (const id of ['ada', 'bob']) {
    store.records.accounts.ofEmail(`${id}@example.org`, { id, plan: 'daily', made_at: NOON });
    const key = { id, account: id, level: 'account' as const, name: id, made_at: NOON, used_at: null };
    store.records.serviceKeys.insert(
      { ...key, made_by: 'cli', expires_at: null, revoked_by: null, revoked_at: null },
      id,
    );
  }
  return store;
}

test('an allowance that is spent stays spent when the clock is set back, by an hour or by a year', (t) => {
  const {
    records: { meter, credits },
  } = opened(t);
  const take = (at: number, account = 'ada') => meter.reserve({ account, key: account, at }, LIMITS)?.outcome;
  assert.equal(take(NOON), 'reserved');
  assert.deepEqual([take(NOON + DAY), take(NOON + DAY), take(NOON + DAY)], ['reserved', 'reserved', 'exhausted']);
  for (const back of [13 * HOUR, DAY, 400 * DAY]) assert.equal(take(NOON + DAY - back), 'exhausted');
  const standing = meter.usage('ada', NOON, LIMITS.daily);
  assert.deepEqual(standing?.today, { included: 2, drawn: 0, refused: 4, failed: 0 });
  assert.equal(standing?.at, Date.UTC(2026, 10, 21), 'what is told of the day is told of the one that counts');
  assert.equal(take(NOON, 'bob'), 'reserved', 'another account has its own days');
  assert.equal(take(NOON + 2 * DAY), 'reserved', 'the next day is a new one');

  // Credits that are drawn meanwhile are drawn once, and their lines follow each other.
  credits.append('ada', { at: NOON + 2 * DAY, amount: 1_000_000, note: null });
  assert.deepEqual([take(NOON + 2 * DAY), take(NOON), take(NOON)], ['reserved', 'reserved', 'reserved']);
  const lines = credits.entries('ada', NOON + 3 * DAY).map(({ at, kind }) => [kind, at]);
  assert.deepEqual(lines, [
    ['draw', NOON + 3 * DAY],
    ['top_up', NOON + 2 * DAY],
  ]);
  const early = credits.append('ada', { at: NOON, amount: 1, note: null });
  assert.equal(typeof early === 'object' ? early.at : early, NOON + 3 * DAY);
  assert.deepEqual(credits.faults(), []);
  assert.equal(credits.balance('ada'), 1_000_001 - 2 * 50_000);
});

test('a clock a year ahead locks nothing until then: its counts count as of today', (t) => {
  const store = opened(t);
  const {
    records: { meter, credits, keyless, quotas },
  } = store;
  const take = (at: number, account = 'ada') => meter.reserve({ account, key: account, at }, LIMITS)?.outcome;
  const [later, tomorrow] = [NOON + 365 * DAY, NOON + DAY];
  assert.equal(take(NOON), 'reserved');
  credits.append('ada', { at: NOON, amount: 1_000_000, note: null });
  assert.deepEqual([take(later), take(later), take(later), take(NOON)], Array(4).fill('reserved'));
  credits.entries('ada', later + DAY);
  assert.equal(take(NOON), 'reserved', 'drawn since the line of that day');
  const balance = credits.balance('ada');
  assert.equal(keyless.admit('192.0.2.1', () => later, 1).pass, 'open');
  assert.equal(quotas.signUp('192.0.2.0/24', later, 1), null);
  assert.equal(take(tomorrow, 'bob'), 'reserved');

  store.database.transact(() => store.database.countToday(NOON));
  const usage = meter.usage('ada', NOON, LIMITS.daily);
  assert.deepEqual([usage?.at, usage?.today], [NOON, { included: 3, drawn: 1, refused: 0, failed: 0 }]);
  assert.equal(credits.balance('ada'), balance);
  assert.deepEqual(credits.faults(), []);
  assert.equal(take(NOON, 'bob'), 'reserved');
  assert.equal(meter.usage('bob', NOON, LIMITS.daily)?.at, Date.UTC(2026, 10, 21), 'a neighbour may be slightly ahead');
  assert.equal(keyless.admit('192.0.2.2', () => NOON, 1).pass, 'closed', 'for today');
  assert.equal(keyless.admit('192.0.2.2', () => tomorrow, 1).pass, 'open');
  assert.equal(quotas.signUp('192.0.2.0/24', tomorrow, 1), null);
  store.database.transact(() => store.database.countToday(NOON));
  assert.deepEqual(meter.usage('ada', NOON, LIMITS.daily)?.today, usage?.today, 'twice is as once');
});

test('a refund goes to the day on which the unit was taken', (t) => {
  const {
    records: { meter },
  } = opened(t);
  const take = (at: number) => meter.reserve({ account: 'ada', key: 'ada', at }, LIMITS);
  take(NOON + DAY);
  const taken = take(NOON);
  assert.ok(taken?.outcome === 'reserved');
  assert.equal(taken.reservation.day, '2026-11-21');
  meter.refund(taken.reservation, NOON, LIMITS.daily);
  assert.deepEqual([take(NOON)?.outcome, take(NOON)?.outcome], ['reserved', 'exhausted']);
});

test('the keyless lane that is closed stays closed when the clock is set back', (t) => {
  const {
    records: { keyless },
  } = opened(t);
  let callers = 0;
  const enter = (at: number, ceiling = 2) => keyless.admit(`192.0.2.${++callers}`, () => at, ceiling);
  assert.equal(enter(NOON).pass, 'open');
  assert.deepEqual([enter(NOON + DAY).pass, enter(NOON + DAY).pass], ['open', 'open']);
  for (const at of [NOON + DAY, NOON, NOON - 400 * DAY]) {
    assert.deepEqual(enter(at), { pass: 'closed', until: Date.UTC(2026, 10, 22) });
  }
  assert.equal(enter(NOON, 3).pass, 'open', 'what is left of the later day is there');
  assert.equal(enter(NOON, 3).pass, 'closed');
  assert.equal(enter(NOON + 2 * DAY).pass, 'open');
});

test('a caller of a neighbour whose clock is ahead waits, one of a clock that was set back does not', (t) => {
  const {
    records: { keyless },
  } = opened(t);
  const enter = (at: number) => keyless.admit('192.0.2.1', () => at, 1_000).pass;
  assert.equal(enter(NOON), 'open');
  assert.equal(enter(NOON - 5), 'throttled');
  assert.equal(enter(NOON - 14_999), 'throttled');
  assert.equal(enter(NOON - 15_000), 'open');
});
