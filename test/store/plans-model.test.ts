import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payment } from '../../src/records/meter/payment.ts';
import { AHEAD_MAX, planPeriod, type SoldPlan } from '../../src/records/meter/plan.ts';
import type { PaidPlan } from '../../src/records/meter/plan-order.ts';
import { limitsOf, planSale, queuePlanMails, releasePlaces } from '../../src/records/plans.ts';
import { openDatabase } from '../../src/shared/sql/open.ts';
import { openStore } from '../../src/store/store.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import * as fc from '../support/properties.ts';
import { OFFER } from '../support/sample-payment.ts';

const DAY = 86_400_000;
const HOUR = DAY / 24;
const START = Date.UTC(2026, 1, 26, 22);
const FREE = { daily: 2, per_minute: 50, watch: 3, streams: 2, exports: 1 };
const ENV = { KEYED_DAILY: '2', KEYED_PER_MINUTE: '50', WATCH_DAILY: '3', KEYED_STREAMS: '2', KEYED_EXPORTS: '1' };

const PLANS: SoldPlan[] = [
  { name: 'small', daily: 4, per_minute: 60, watch: 5, streams: 1, exports: 2, price: 3_000_000, days: 30 },
  { name: 'large', daily: 6, per_minute: 70, watch: 9, streams: 4, exports: 3, price: 7_000_001, days: 31 },
  { name: 'week', daily: 1, per_minute: 55, watch: 3, streams: 3, exports: 9, price: 1, days: 7 },
  { name: 'day', daily: 9, per_minute: 50, watch: 4, streams: 2, exports: 1, price: 999_999_999, days: 1 },
];

/** The worth of what is left of a plan, in units × ms: a sum of money does not round. */
const worth = ({ price, days }: { price: number; days: number }, left: number, by: bigint) =>
  (BigInt(left) * BigInt(price) * by) / BigInt(days);

test('what is left of a plan keeps its worth to the millisecond, and a renewal adds its days exactly', () => {
  const terms = fc.record({
    price: fc.integer({ min: 1, max: 1_000_000_000 }),
    days: fc.integer({ min: 1, max: 366 }),
  });
  const at = fc.integer({ min: START, max: START + 400 * DAY });
  fc.assert(
    fc.property(terms, terms, at, at, (first, second, t1, t2) => {
      const one = { ...first, ...planPeriod(first, null, t1) };
      assert.equal(one.ends_at, t1 + first.days * DAY);
      const again = planPeriod(first, one, t2);
      const start = Math.max(t1, t2);
      const left = Math.max(0, one.ends_at - start);
      assert.equal(again.ends_at, start + left + first.days * DAY, 'a renewal');
      const other = planPeriod(second, one, t2);
      if (other.ends_at - other.starts_at >= AHEAD_MAX) return;
      // In a unit in which both prices per ms are whole.
      const unit = BigInt(first.days) * BigInt(second.days);
      const [before, after] = [worth(first, left, unit), worth(second, other.carried, unit)];
      const perMs = (BigInt(second.price) * unit) / BigInt(second.days);
      assert(after <= before && before - after < perMs, `${before} became ${after}`);
    }),
    { numRuns: 500 },
  );
});

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('buy' as const), plan: fc.nat(PLANS.length - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('buy again' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('ask' as const), isExport: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      by: fc.constantFrom(1, HOUR, DAY - 1, DAY, 6 * DAY, 7 * DAY, 29 * DAY, -HOUR, -3 * DAY),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('clock to' as const),
      what: fc.constantFrom('midnight', 'the end', 'a ms before the end'),
    }),
  },
);

test('for any order of purchases, requests and times, limits, ends and mails are those of the rules', (t) => {
  const clock = { now: START };
  const app = appContextIn(t, tempFolder(t), clock, ENV);
  const { accounts, accountMails, meter, plans, serviceKeys } = app.store.records;
  let run = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      clock.now = START + run * 4_000 * DAY;
      const account = `account-${++run}`;
      const key = `${account}-key`;
      accounts.ofEmail(`${account}@example.org`, { id: account, plan: 'daily', made_at: clock.now });
      const life = {
        made_at: clock.now,
        made_by: 'cli',
        expires_at: null,
        used_at: null,
        revoked_at: null,
        revoked_by: null,
      };
      serviceKeys.insert({ id: key, account, level: 'account', name: 'N', ...life }, key);
      const bought: PaidPlan[] = [];
      const asked = new Map<string, { included: number; exports: number }>();
      let latest = clock.now;
      let orders = 0;

      const buy = (plan: SoldPlan, n: number) => {
        const { name, ...terms } = plan;
        const order = {
          id: `${account}-${String(n).padStart(3, '0')}`,
          ...{ account, payment: `payment ${n}`, plan: name, ...terms },
          ...{ cost: 'some', network: 'eip155:1', asset: null, payer: '0x', ordered_at: clock.now },
        };
        const { record } = planSale(app, order, {} as Payment, OFFER);
        app.store.database.transact(() => record?.settling());
        app.store.database.transact(() => record?.settled('0x1'));
        // Whoever comes later with the same payment changes nothing.
        app.store.database.transact(() => record?.settling());
        app.store.database.transact(() => record?.settled('0x2'));
      };

      for (const one of steps) {
        if (one.do === 'buy') {
          const plan = PLANS[one.plan] as SoldPlan;
          const before = bought.at(-1) ?? null;
          const expected = planPeriod(plan, before, clock.now);
          buy(plan, ++orders);
          const last = plans.last(account);
          assert(last !== null);
          assert.deepEqual(
            [last.plan, last.seq, last.starts_at, last.ends_at, last.carried, last.transaction],
            [plan.name, bought.length + 1, expected.starts_at, expected.ends_at, expected.carried, '0x1'],
          );
          bought.push(last);
        }
        if (one.do === 'buy again' && bought.length > 0) {
          buy(PLANS[0] as SoldPlan, orders);
          assert.deepEqual(plans.last(account), bought.at(-1), 'one payment, one plan');
        }
        if (one.do === 'clock') clock.now += one.by;
        if (one.do === 'clock to') {
          const end = bought.at(-1)?.ends_at ?? clock.now;
          if (one.what === 'midnight') clock.now = (Math.floor(clock.now / DAY) + 1) * DAY;
          else clock.now = Math.max(clock.now, one.what === 'the end' ? end : end - 1);
        }
        latest = Math.max(latest, clock.now);

        const last = bought.at(-1);
        const held = last !== undefined && last.ends_at > clock.now ? last : null;
        const now = limitsOf(app, { id: account, plan: 'daily' });
        assert.equal(now.bought?.id ?? null, held?.id ?? null);
        for (const name of ['daily', 'per_minute', 'watch', 'streams', 'exports'] as const) {
          assert.equal(now.limits[name], Math.max(FREE[name], held?.[name] ?? 0), name);
        }
        if (one.do === 'ask') {
          // The day of a request never goes back.
          const lastDay = [...asked.keys()].sort().at(-1) ?? '';
          const today = new Date(clock.now).toISOString().slice(0, 10);
          const day = today < lastDay ? lastDay : today;
          const counts = asked.get(day) ?? { included: 0, exports: 0 };
          const at = today < lastDay ? Date.parse(lastDay) : clock.now;
          const inForce = last !== undefined && last.ends_at > at ? last : null;
          const daily = Math.max(FREE.daily, inForce?.daily ?? 0);
          const exports = Math.max(FREE.exports, inForce?.exports ?? 0);
          const isOut = one.isExport && counts.exports >= exports;
          const take = meter.reserve(
            { account, key, at: clock.now, isExport: one.isExport },
            { daily: FREE.daily, perMinute: 10_000, exports: FREE.exports },
          );
          if (isOut || counts.included >= daily) {
            assert.equal(take?.outcome, 'exhausted');
            if (take?.outcome === 'exhausted') assert.equal(take.axis, isOut ? 'exports' : 'daily');
            if (!asked.has(day)) asked.set(day, counts);
          } else {
            assert.equal(take?.outcome, 'reserved', `${counts.included} of ${daily}`);
            asked.set(day, { included: counts.included + 1, exports: counts.exports + Number(one.isExport) });
          }
        }

        queuePlanMails(app);
        queuePlanMails(app);
        releasePlaces(app);
        const mails = accountMails.ofAccount(account).map(({ id }) => plans.ofMail(id));
        const kinds = mails.map((mail) => `${mail?.paid.id} ${mail?.kind}`);
        assert.equal(new Set(kinds).size, kinds.length, 'each mail once');
        for (const paid of bought) assert(kinds.includes(`${paid.id} receipt`));
        if (last === undefined || last.ends_at <= clock.now) continue;
        const [left, length] = [last.ends_at - clock.now, last.ends_at - last.starts_at];
        if (left <= DAY && length > DAY) assert(kinds.includes(`${last.id} day`));
        if (left > DAY && left <= 7 * DAY && length > 7 * DAY) assert(kinds.includes(`${last.id} week`));
        if (length <= DAY) assert(!kinds.includes(`${last.id} day`), 'not as soon as it was bought');
        if (length <= 7 * DAY) assert(!kinds.includes(`${last.id} week`));
      }
      assert.deepEqual(plans.receipts(account).toReversed(), bought);
    }),
    { numRuns: 100 },
  );
  assert.deepEqual(plans.faults(), []);
});

test('receipts are books: they cannot be changed, and the audit finds one that was', (t) => {
  const file = emptyDatabase(tempFolder(t));
  const store = openStore({ file });
  t.after(() => store.database.close());
  const { plans } = store.records;
  const [small] = PLANS as [SoldPlan];
  const { name, ...terms } = small;
  for (const n of [1, 2]) {
    const order = {
      ...{ id: `order ${n}`, account: 'ada', payment: `payment ${n}`, plan: name, ...terms },
      ...{ cost: 'some', network: 'eip155:1', asset: null, payer: '0x', ordered_at: START },
    };
    plans.place(order, {} as Payment);
    plans.grant(order.id, START, null);
  }
  const db = openDatabase({ file });
  t.after(() => db.close());
  for (const text of ['DELETE FROM plan_orders', 'UPDATE plan_orders SET ends_at = ends_at + 1']) {
    assert.throws(() => db.exec(text), /append-only/, text);
  }
  assert.deepEqual(plans.faults(), []);
  db.exec('DROP TRIGGER plan_orders_fixed');
  db.exec("UPDATE plan_orders SET ends_at = ends_at + 1 WHERE id = 'order 1'");
  assert.deepEqual(plans.faults(), [
    'plans of account ada: receipt order 1 does not follow from the one before',
    'plans of account ada: receipt order 2 does not follow from the one before',
  ]);
});

test('thirty days after a plan ended, the hostnames that came last lose their places, unless others want them', (t) => {
  const clock = { now: START };
  const app = appContextIn(t, tempFolder(t), clock, ENV);
  const { accounts, plans, watchGroups } = app.store.records;
  accounts.ofEmail('ada@example.org', { id: 'ada', plan: 'daily', made_at: START });
  watchGroups.add({ id: 'group', account: 'ada', name: 'Ours', made_at: START });
  for (let n = 0; n < 5; n++) watchGroups.put('group', `h${n}.example`, START + n);
  const [small] = PLANS as [SoldPlan];
  const { name, ...terms } = small;
  plans.place(
    {
      ...{ id: 'order', account: 'ada', payment: 'payment', plan: name, ...terms },
      ...{ cost: 'some', network: 'eip155:1', asset: null, payer: '0x', ordered_at: START },
    },
    {} as Payment,
  );
  const { ends_at } = plans.grant('order', START, null);
  clock.now = ends_at + 30 * DAY - 1;
  assert.deepEqual(releasePlaces(app), []);
  clock.now += 1;
  assert.deepEqual(releasePlaces(app), ['h3.example', 'h4.example']);
  assert.deepEqual(watchGroups.hostsOf('ada'), ['h0.example', 'h1.example', 'h2.example']);
  assert.deepEqual(releasePlaces(app), []);
});
