import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceKey } from '../../src/records/accounts/service-key.ts';
import { PLANS } from '../../src/records/meter/account-usage.ts';
import type { Reservation } from '../../src/records/meter/meter-table.ts';
import { openDatabase } from '../../src/shared/sql/open.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import * as fc from '../support/properties.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Two days before a month ends, so that runs cross days and months. */
const START = Date.UTC(2026, 1, 26, 22);
const LIMITS = { daily: 2, perMinute: 4 };
const COST = 50_000;

const step = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      key: fc.constantFrom(0, 1, 2),
      // What becomes of it: it is answered, it fails, or it fails later.
      end: fc.constantFrom('served' as const, 'served' as const, 'fails' as const, 'hangs' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      to: fc.constantFrom(
        'a moment' as const,
        'a minute' as const,
        'the last ms' as const,
        'midnight' as const,
        '5 days' as const,
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('buy' as const), amount: fc.integer({ min: 1, max: 6 * COST }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('correct' as const), amount: fc.integer({ min: 1, max: 3 * COST }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('plan' as const), plan: fc.constantFrom(...PLANS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('burst' as const), burst: fc.integer({ min: 1, max: 31 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('books' as const) }) },
);

const iso = (at: number) => new Date(at).toISOString();
const ZERO = { included: 0, drawn: 0, refused: 0, failed: 0 };

/** The same rules in other words: everything that happened is kept, and counted anew each time. */
class Model {
  now = START;
  plan: 'daily' | 'monthly' = 'daily';
  burst = 1;
  moved = 0;
  hasBought = false;
  readonly asked: { key: number; at: number; as: keyof typeof ZERO }[] = [];
  /** By key: when requests passed the rate. */
  readonly passed: { key: number; at: number }[] = [];

  count(as: keyof typeof ZERO, period = ''): number {
    return this.asked.filter((one) => one.as === as && iso(one.at).startsWith(period)).length;
  }

  counts(period: string) {
    return {
      included: this.count('included', period),
      drawn: this.count('drawn', period),
      refused: this.count('refused', period),
      failed: this.count('failed', period),
    };
  }

  get balance(): number {
    return this.moved - COST * this.count('drawn');
  }

  /** What a request of a key comes to now. */
  next(key: number): 'too_fast' | 'daily' | 'monthly' | 'credits' | 'included' | 'drawn' {
    const minute = iso(this.now).slice(0, 16);
    const [day, month] = [minute.slice(0, 10), minute.slice(0, 7)];
    if (this.passed.filter((one) => one.key === key && iso(one.at).startsWith(minute)).length >= LIMITS.perMinute)
      return 'too_fast';
    const days = month === '2026-02' ? 28 : month === '2026-04' ? 30 : 31;
    const isMonthLeft = this.plan === 'daily' || this.count('included', month) < LIMITS.daily * days;
    if (isMonthLeft && this.count('included', day) < LIMITS.daily * this.burst) return 'included';
    if (this.balance >= COST) return 'drawn';
    return this.hasBought ? 'credits' : isMonthLeft ? 'daily' : 'monthly';
  }
}

function keyOf(account: string, id: string): ServiceKey {
  const life = { made_at: START, made_by: 'cli', expires_at: null, used_at: null, revoked_at: null, revoked_by: null };
  return { id, account, level: 'account', name: 'N', ...life };
}

test('for any order of requests, failures, days and top-ups, units, credits and refusals add up exactly', (t) => {
  const store = openStore({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => store.database.close());
  let run = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const account = `account-${++run}`;
      const keys = [0, 1, 2].map((n) => `${account}-key-${n}`);
      store.records.accounts.ofEmail(`${account}@example.org`, { id: account, plan: 'daily', made_at: START });
      for (const id of keys) {
        store.records.serviceKeys.insert(keyOf(account, id), id);
      }
      const model = new Model();
      const hanging: { taken: Reservation; of: Model['asked'][number] }[] = [];
      const fail = ({ taken, of }: (typeof hanging)[number]) => {
        store.records.meter.refund(taken, model.now, LIMITS.daily);
        of.as = 'failed';
      };
      const check = () => {
        const standing = store.records.meter.usage(account, model.now, LIMITS.daily);
        const [day, month] = [iso(model.now).slice(0, 10), iso(model.now).slice(0, 7)];
        const terms = { plan: model.plan, burst: model.burst, daily: LIMITS.daily, bought: null };
        const { balance, hasBought: bought } = model;
        assert.deepEqual(standing, {
          at: model.now,
          terms,
          today: model.counts(day),
          month: model.counts(month),
          elsewhere: 0,
          covered: { before: 0, today: false },
          balance,
          bought,
        });
        assert(balance >= 0);
        return standing;
      };

      for (const one of steps) {
        if (one.do === 'ask') {
          const expected = model.next(one.key);
          const take = store.records.meter.reserve({ account, key: keys[one.key] ?? '', at: model.now }, LIMITS);
          assert(take !== null);
          if (expected === 'too_fast') {
            assert.equal(take.outcome, 'too_fast');
            continue;
          }
          model.passed.push({ key: one.key, at: model.now });
          const as = expected === 'included' || expected === 'drawn' ? expected : 'refused';
          const of: Model['asked'][number] = { key: one.key, at: model.now, as };
          model.asked.push(of);
          assert.deepEqual(take.usage, check(), 'what is told is how it stands');
          if (take.outcome === 'exhausted') assert.equal(take.axis, expected);
          else {
            assert(take.outcome === 'reserved');
            assert.equal(take.reservation.from, expected === 'included' ? 'included' : 'credits');
            if (one.end === 'fails') fail({ taken: take.reservation, of });
            if (one.end === 'hangs') hanging.push({ taken: take.reservation, of });
          }
        }
        if (one.do === 'fail') for (const late of hanging.splice(0, 1)) fail(late);
        if (one.do === 'clock') {
          const midnight = (Math.floor(model.now / DAY) + 1) * DAY;
          if (one.to === 'the last ms') model.now = Math.max(model.now, midnight - 1);
          else
            model.now = {
              'a moment': model.now + 1,
              'a minute': model.now + MINUTE,
              midnight,
              '5 days': model.now + 5 * DAY,
            }[one.to];
        }
        if (one.do === 'buy') {
          const entry = store.records.credits.append(account, { at: model.now, amount: one.amount, note: null });
          model.moved += one.amount;
          model.hasBought = true;
          assert.equal(typeof entry === 'object' ? entry.balance : entry, model.balance);
        }
        if (one.do === 'correct') {
          const entry = store.records.credits.append(account, { at: model.now, amount: -one.amount, note: null });
          assert.equal(entry === 'too_little', model.balance < one.amount);
          if (entry !== 'too_little') model.moved -= one.amount;
          if (typeof entry === 'object') assert.equal(entry.balance, model.balance);
        }
        if (one.do === 'plan') {
          store.records.accounts.setPlan(account, one.plan);
          model.plan = one.plan;
        }
        if (one.do === 'burst') {
          store.records.meter.setBurst(account, one.burst);
          model.burst = one.burst;
        }
        if (one.do === 'books') {
          const [newest] = store.records.credits.entries(account, model.now);
          assert.equal(newest?.balance ?? 0, model.balance);
        }
        check();
      }

      // A day later everything drawn is in the ledger: its lines are chained, and their sum is what is left.
      model.now += DAY;
      const entries = store.records.credits.entries(account, model.now, { limit: 1_000 }).reverse();
      let sum = 0;
      for (const [n, { seq, amount, balance }] of entries.entries()) {
        sum += amount;
        assert.deepEqual([seq, balance], [n + 1, sum]);
      }
      assert.equal(sum, model.balance);
      assert.equal(store.records.credits.balance(account), sum);
      assert.deepEqual(store.records.credits.faults(), []);
      const drawn = entries.filter(({ day }) => day !== null);
      for (const day of new Set(drawn.map((entry) => entry.day ?? ''))) {
        const cost = drawn.filter((entry) => entry.day === day).reduce((total, { amount }) => total - amount, 0);
        assert.equal(cost, COST * model.count('drawn', day), day);
      }

      // Every request that passed the rate of its key is in one column of one day, and every unit is some key's.
      const days = store.records.meter.days(account, '2026-01-01');
      const total = days.reduce(
        (all, { included, drawn: d, refused, failed }) => all + included + d + refused + failed,
        0,
      );
      assert.equal(total, model.passed.length);
      const period = iso(model.now).slice(0, 7);
      const used = store.records.meter.keys(account, model.now);
      const units = used.reduce((all, { month }) => all + month, 0);
      assert.equal(units, model.count('included', period) + model.count('drawn', period));
    }),
    { numRuns: 200 },
  );
});

test('an account’s meter is forgotten, and its books stay, without a word about whom', (t) => {
  const store = openStore({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => store.database.close());
  store.records.accounts.ofEmail('ada@example.org', { id: 'ada', plan: 'daily', made_at: START });
  store.records.serviceKeys.insert(keyOf('ada', 'key'), 'hash');
  store.records.credits.append('ada', { at: START, amount: 3 * COST, note: 'invoice of Ada', ref: 'payment 1' });
  assert.equal(store.records.credits.append('ada', { at: START, amount: COST, note: null, ref: 'payment 1' }), 'known');
  for (let n = 0; n < 3; n++)
    store.records.meter.reserve({ account: 'ada', key: 'key', at: START }, { daily: 1, perMinute: 9 });
  store.records.meter.forget('ada', START);
  assert.deepEqual(store.records.meter.days('ada', '2026-01-01'), []);
  assert.deepEqual(store.records.meter.keys('ada', START), []);
  assert.deepEqual(
    store.records.credits
      .entries('ada', START)
      .map(({ kind, amount, balance, note }) => ({ kind, amount, balance, note })),
    [
      { kind: 'draw', amount: -2 * COST, balance: COST, note: null },
      { kind: 'top_up', amount: 3 * COST, balance: 3 * COST, note: null },
    ],
  );
});

test('the ledger rejects changes, gaps and wrong sums, and the audit finds forced ones', (t) => {
  const file = emptyDatabase(tempFolder(t));
  const store = openStore({ file });
  t.after(() => store.database.close());
  store.records.credits.append('ada', { at: START, amount: 3 * COST, note: 'paid', ref: 'payment 1' });
  store.records.credits.append('ada', { at: START, amount: COST, note: null });
  const db = openDatabase({ file });
  t.after(() => db.close());
  const line = (seq: number, balance: number, ref = 'NULL') =>
    `INSERT OR REPLACE INTO credit_ledger VALUES ('ada', ${seq}, 0, 'top_up', 1, ${balance}, NULL, ${ref}, NULL)`;
  for (const sql of [
    'DELETE FROM credit_ledger',
    'UPDATE credit_ledger SET amount = amount + 1',
    "UPDATE credit_ledger SET note = 'other'",
    line(4, 4 * COST + 1),
    line(3, 4 * COST),
    line(2, 3 * COST + 1),
    line(3, 4 * COST + 1, "'payment 1'"),
  ]) {
    assert.throws(() => db.exec(sql), /append-only/, sql);
  }
  assert.deepEqual(store.records.credits.faults(), []);
  db.exec('DROP TRIGGER credit_ledger_fixed');
  db.exec('UPDATE credit_ledger SET balance = balance + 1 WHERE seq = 1');
  store.records.accounts.ofEmail('ada@example.org', { id: 'ada', plan: 'daily', made_at: START });
  db.exec("INSERT INTO meter_days (account, day, drawn, folded) VALUES ('ada', '2026-02-26', 1, 1)");
  assert.deepEqual(store.records.credits.faults(), [
    'credits of account ada: line 1 does not follow from the one before',
    'credits of account ada: line 2 does not follow from the one before',
    'credits of account ada: the lines of 2026-02-26 are not what the day drew',
  ]);
});

test('clocks that lag, and one that was set back', (t) => {
  const store = openStore({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => store.database.close());
  store.records.accounts.ofEmail('ada@example.org', { id: 'ada', plan: 'daily', made_at: START });
  const key = { id: 'key', account: 'ada', level: 'account' as const, name: 'N', made_at: START, used_at: null };
  store.records.serviceKeys.insert(
    { ...key, made_by: 'cli', expires_at: null, revoked_by: null, revoked_at: null },
    'hash',
  );
  const take = (at: number) =>
    store.records.meter.reserve({ account: 'ada', key: 'key', at }, { daily: 99, perMinute: 3 })?.outcome;
  // Two processes, one of which is a few ms behind, at the turn of a minute: what counts is one minute.
  assert.deepEqual(
    [take(START), take(START - 5), take(START + 1), take(START - 4)],
    ['reserved', 'reserved', 'reserved', 'too_fast'],
  );
  assert.equal(take(START - HOUR), 'reserved', 'after an hour back nobody is locked out');

  const enter = (at: number) => store.records.keyless.admit('192.0.2.1', () => at, 99).pass;
  assert.deepEqual([enter(START), enter(START + 14_999), enter(START - HOUR)], ['open', 'throttled', 'open']);
});
