import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payment } from '../../src/records/meter/payment.ts';
import { accountStand } from '../support/account-fixture.ts';
import { until } from '../support/program.ts';
import { parsed } from '../support/smtp.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const DAY = 86_400_000;
const TERMS = { daily: 5_000, per_minute: 200, watch: 50, streams: 12, exports: 2_000, price: 3_000_000, days: 30 };

test('a plan says seven days and one day before that it ends, once, and not when it was renewed meanwhile', {
  skip: ONLY_WIDE,
}, async (t) => {
  const stand = await accountStand(t);
  const { app, clock, smtp } = stand;
  await stand.signIn('ada@example.org');
  const { accounts, plans } = app.store.records;
  const account = accounts.byEmail('ada@example.org')?.id ?? '';
  const buy = (id: string) => {
    const order = { id, account, payment: id, plan: 'newsroom', ...TERMS, cost: '3 USDC' };
    plans.place({ ...order, network: 'eip155:8453', asset: null, payer: '0xb0', ordered_at: clock.now }, {} as Payment);
    return plans.grant(id, clock.now, '0xab').ends_at;
  };
  const mails = async () => {
    const all = await Promise.all(smtp.taken.map(parsed));
    return all.filter(({ subject = '' }) => /\bplan\b/.test(subject));
  };
  const mailed = (count: number) =>
    until(async () => {
      const all = await mails();
      return all.length >= count ? all : null;
    });
  /** Waits until the jobs have looked again, twice. */
  const settled = () => new Promise((resolve) => setTimeout(resolve, 700));

  const ends = buy('one');
  clock.now = ends - 7 * DAY - 1;
  await settled();
  assert.equal((await mails()).length, 0);
  clock.now += 1;
  const [week] = await mailed(1);
  assert.equal(week?.subject, 'Your plan newsroom ends in a week');
  assert.match(week?.text ?? '', /Nothing is charged: plans do not renew themselves/);
  assert.match(week?.text ?? '', /more than 25 hostnames then, those that came last leave them 30 days later/);
  assert.match(week?.text ?? '', /1,000 requests a day, 100 a minute/);
  clock.now -= 3 * DAY;
  await settled();
  clock.now = ends - DAY;
  const [, day] = await mailed(2);
  assert.equal(day?.subject, 'Your plan newsroom ends in a day');

  // A mail that waits while the plan is renewed is not sent.
  const later = buy('two');
  assert.equal(later, ends + 30 * DAY);
  clock.now = ends + 1;
  await settled();
  assert.equal((await mails()).length, 2);
  clock.now = later - 7 * DAY;
  const [, , again] = await mailed(3);
  assert.equal(again?.subject, 'Your plan newsroom ends in a week');
  // A server that was down until after the end says nothing of what is over.
  clock.now = later + DAY;
  await settled();
  assert.equal((await mails()).length, 3);
});
