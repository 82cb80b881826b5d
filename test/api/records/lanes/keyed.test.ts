import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plan } from '../../../../src/records/meter/account-usage.ts';
import type { Payment } from '../../../../src/records/meter/payment.ts';
import { type Answer, ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { type RecordsStand, recordsStand } from '../../../support/records-fixture.ts';

const DOOR = '/v1/domains/example.org';
const NOWHERE = '/v1/domains/nowhere.example';
const ADA = 'ada@example.org';
/** A Saturday in a month of 30 days, 20 seconds into a minute. */
const NOON = Date.UTC(2026, 10, 21, 12, 0, 20);
const MIDNIGHT = Date.UTC(2026, 10, 22);
const NEXT_MONTH = Date.UTC(2026, 11, 1);

const unix = (at: number) => String(at / 1_000);
const isMeter = (name: string) => /^(?:x-service-|ratelimit|x-ratelimit|retry-after)/.test(name);
const meterOf = ({ headers }: Answer) => Object.fromEntries(Object.entries(headers).filter(([name]) => isMeter(name)));

interface Customer {
  id: string;
  ask(path?: string): Promise<Answer>;
}

/** An account with a key on a stand that knows example.org. */
function customerOf({ app, url, keyOf, enter, clock }: RecordsStand, plan: Plan = 'daily'): Customer {
  enter(probe('example.org', clock.now, { A: ['192.0.2.1'] }));
  const key = keyOf('account', ADA);
  const id = app.store.records.accounts.byEmail(ADA)?.id ?? '';
  app.store.records.accounts.setPlan(id, plan);
  return { id, ask: (path = DOOR) => ask(url, path, { 'x-service-key': key }) };
}

const topUp = ({ app, clock }: RecordsStand, { id }: Customer, amount: number) =>
  app.store.records.credits.append(id, { at: clock.now, amount, note: null });

test('the daily credit plan: its headers, and no others', async (t) => {
  const stand = await recordsStand(t, {}, NOON);
  const answer = await customerOf(stand).ask();
  assert.equal(answer.status, 200, answer.text);
  assert.equal(JSON.parse(answer.text).preview, false);
  assert.deepEqual(meterOf(answer), {
    'x-service-usage': '1',
    'x-service-usage-day': '1',
    'x-service-usage-period': '2026-11',
    'x-service-daily-allowance': '1000',
    'x-service-daily-remaining': '999',
    'x-service-daily-reset': unix(MIDNIGHT),
    'x-service-burst': '1',
    'x-service-credits-balance': '0',
    'x-service-credits-allowance': '50',
    'x-service-credits-used': '0.05',
    'x-service-credits-remaining': '49.95',
    'x-service-credits-reset': unix(MIDNIGHT),
    'ratelimit-policy': '"minute";q=100;w=60',
    ratelimit: '"minute";r=99;t=40',
  });
});

test('the legacy monthly plan: its headers, and no others', async (t) => {
  const stand = await recordsStand(t, {}, NOON);
  const answer = await customerOf(stand, 'monthly').ask();
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(meterOf(answer), {
    'x-service-usage': '1',
    'x-service-usage-day': '1',
    'x-service-usage-period': '2026-11',
    'x-service-daily-allowance': '1000',
    'x-service-daily-remaining': '999',
    'x-service-daily-reset': unix(MIDNIGHT),
    'x-service-burst': '1',
    'x-service-credits-balance': '0',
    'x-service-allowance': '30000',
    'x-service-remaining': '29999',
    'x-service-reset': unix(NEXT_MONTH),
    'ratelimit-policy': '"minute";q=100;w=60',
    ratelimit: '"minute";r=99;t=40',
  });
});

test('after the allowance come credits, after the credits 402, and at midnight the allowance again', async (t) => {
  const stand = await recordsStand(t, { KEYED_DAILY: '2' }, NOON);
  const ada = customerOf(stand);
  const other = stand.keyOf('account', ADA);
  assert.equal((await ada.ask()).status, 200);
  const shared = await ask(stand.url, DOOR, { 'x-service-key': other });
  assert.equal(shared.headers['x-service-daily-remaining'], '0', 'all keys of an account share its allowance');

  const never = await ada.ask();
  assert.equal(never.status, 402);
  const { message, ...refusal } = JSON.parse(never.text);
  assert.deepEqual(refusal, {
    error: 'allowance_exhausted',
    axis: 'daily',
    axes: ['daily', 'credits'],
    top_up: 'http://localhost:4322/account/credits',
    resets_at: '2026-11-22T00:00:00.000Z',
  });
  assert.match(message, /your account has no credits; top up at \S+, or wait until \S+ Nothing was charged$/);
  assert.equal(never.headers['x-service-usage-day'], '2', 'a refusal is no unit');
  assert.equal(
    never.headers.ratelimit,
    '"minute";r=98;t=40',
    'but it counts for the minute, and the other key for its own',
  );

  topUp(stand, ada, 120_000);
  const drawn = await ada.ask();
  assert.equal(drawn.status, 200);
  assert.equal(drawn.headers['x-service-daily-remaining'], '0');
  assert.equal(drawn.headers['x-service-credits-used'], '0.15');
  assert.equal(drawn.headers['x-service-credits-remaining'], '0');
  assert.equal(drawn.headers['x-service-credits-balance'], '0.07', 'what was bought and is left');
  assert.equal((await ada.ask()).status, 200);
  const empty = await ada.ask();
  assert.equal(empty.status, 402);
  assert.equal(empty.headers['x-service-credits-balance'], '0.02');
  assert.equal(JSON.parse(empty.text).axis, 'credits');
  assert.deepEqual(JSON.parse(empty.text).axes, ['daily', 'credits']);
  assert.match(JSON.parse(empty.text).message, /of your credits 0\.02 are left, where a request takes 0\.05;/);

  stand.clock.now = MIDNIGHT - 1;
  assert.equal((await ada.ask()).status, 402);
  stand.clock.now = MIDNIGHT;
  const anew = await ada.ask();
  assert.equal(anew.headers['x-service-usage-day'], '1');
  assert.equal(anew.headers['x-service-usage'], '5');
  assert.equal(anew.headers['x-service-daily-remaining'], '1');
  assert.equal(stand.app.store.records.credits.balance(ada.id), 20_000);
});

test('a monthly plan that is spent says so, and waits for the next month', async (t) => {
  // November includes 30 requests, and 31 days' shares may go on one day.
  const stand = await recordsStand(t, { KEYED_DAILY: '1' }, NOON);
  const ada = customerOf(stand, 'monthly');
  stand.app.store.records.meter.setBurst(ada.id, 2);
  const spend = async (units: number) => {
    for (let n = 0; n < units; n++) assert.equal((await ada.ask()).status, 200);
  };
  await spend(2);
  const ofDay = JSON.parse((await ada.ask()).text);
  assert.deepEqual(
    [ofDay.axis, ofDay.axes, ofDay.resets_at],
    ['daily', ['daily', 'credits'], new Date(MIDNIGHT).toISOString()],
    'the day is spent, and the month is not',
  );
  assert.match(ofDay.message, /^the requests that your plan includes for today are spent/);

  stand.app.store.records.meter.setBurst(ada.id, 31);
  await spend(28);
  const month = await ada.ask();
  assert.deepEqual([month.status, month.headers['x-service-remaining']], [402, '0']);
  const refused = JSON.parse(month.text);
  const resets_at = new Date(NEXT_MONTH).toISOString();
  assert.deepEqual([refused.axis, refused.axes, refused.resets_at], ['monthly', ['monthly', 'credits'], resets_at]);
  assert.match(refused.message, /^the requests that your plan includes for this month are spent/);

  topUp(stand, ada, 60_000);
  const drawn = await ada.ask();
  assert.deepEqual([drawn.status, drawn.headers['x-service-credits-balance']], [200, '0.01']);
  const both = JSON.parse((await ada.ask()).text);
  assert.deepEqual([both.axis, both.axes, both.resets_at], ['credits', ['monthly', 'credits'], resets_at]);
  stand.clock.now = MIDNIGHT;
  assert.equal(JSON.parse((await ada.ask()).text).resets_at, resets_at);
  stand.clock.now = NEXT_MONTH;
  assert.equal((await ada.ask()).status, 200);
});

test('failed requests are refunded to their source', async (t) => {
  const stand = await recordsStand(t, { KEYED_DAILY: '1' }, NOON);
  const ada = customerOf(stand);
  const failed = await ada.ask(NOWHERE);
  assert.equal(failed.status, 404);
  assert.equal(failed.headers['x-service-usage-day'], '0');
  assert.equal(failed.headers['x-service-daily-remaining'], '1');
  assert.equal(failed.headers.ratelimit, '"minute";r=99;t=40', 'the minute counts it');
  assert.equal((await ada.ask('/v1/domains/a..b.com')).status, 400);
  assert.equal((await ada.ask()).status, 200);
  topUp(stand, ada, 50_000);
  assert.equal((await ada.ask(NOWHERE)).status, 404);
  assert.equal(stand.app.store.records.credits.balance(ada.id), 50_000);
  assert.equal((await ada.ask()).status, 200);
  assert.equal(stand.app.store.records.credits.balance(ada.id), 0);
  const counts = { included: 1, drawn: 1, refused: 0, failed: 3 };
  assert.deepEqual(stand.app.store.records.meter.days(ada.id, '2026-11-21'), [{ day: '2026-11-21', ...counts }]);
});

test('twelve concurrent requests on an allowance of five and credits for three: five, three, and four refusals', async (t) => {
  const stand = await recordsStand(t, { KEYED_DAILY: '5' }, NOON);
  const ada = customerOf(stand);
  topUp(stand, ada, 150_000);
  const answers = await Promise.all(Array.from({ length: 12 }, () => ada.ask()));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(8).fill(200), ...Array(4).fill(402)]);
  const counts = { included: 5, drawn: 3, refused: 4, failed: 0 };
  assert.deepEqual(stand.app.store.records.meter.days(ada.id, '2026-11-21'), [{ day: '2026-11-21', ...counts }]);
  const told = answers.filter(({ status }) => status === 200).map(({ headers }) => Number(headers['x-service-usage']));
  assert.deepEqual(told.sort(), [1, 2, 3, 4, 5, 6, 7, 8], 'each answer tells its own count');
});

test('each key has its minute', async (t) => {
  const stand = await recordsStand(t, { KEYED_PER_MINUTE: '2' }, NOON);
  const ada = customerOf(stand);
  assert.equal((await ada.ask()).headers.ratelimit, '"minute";r=1;t=40');
  assert.equal((await ada.ask()).headers.ratelimit, '"minute";r=0;t=40');
  const fast = await ada.ask();
  assert.equal(fast.status, 429);
  assert.equal(JSON.parse(fast.text).error, 'rate_limited');
  assert.deepEqual(
    ['retry-after', 'ratelimit', 'ratelimit-policy', 'x-service-usage', 'x-service-daily-remaining'].map(
      (name) => fast.headers[name],
    ),
    ['40', '"minute";r=0;t=40', '"minute";q=2;w=60', '2', '998'],
  );
  const other = await ask(stand.url, DOOR, { 'x-service-key': stand.keyOf('account', ADA) });
  assert.equal(other.status, 200, 'the rate is of a key');
  assert.equal(other.headers['x-service-usage'], '3', 'the allowance is of the account');
  stand.clock.now = NOON + 39_001;
  assert.equal((await ada.ask()).headers['retry-after'], '1');
  stand.clock.now = NOON + 40_000;
  assert.equal((await ada.ask()).status, 200);
});

test('what a bought plan covers is no part of the month of an account on the monthly plan', async (t) => {
  const stand = await recordsStand(t, { KEYED_DAILY: '1' }, Date.UTC(2026, 1, 1, 12));
  const ada = customerOf(stand, 'monthly');
  const { plans } = stand.app.store.records;
  assert.equal((await ada.ask()).headers['x-service-remaining'], '27');
  const limits = { daily: 40, per_minute: 100, watch: 1, streams: 1, exports: 1 };
  const order = { id: 'order', account: ada.id, payment: 'payment', plan: 'large', ...limits, price: 1, days: 1 };
  const paid = { cost: '', network: 'eip155:1', asset: null, payer: '0x', ordered_at: stand.clock.now };
  plans.place({ ...order, ...paid }, {} as Payment);
  plans.grant('order', stand.clock.now, null);
  for (let n = 0; n < 39; n++) {
    const { status, headers } = await ada.ask();
    assert.deepEqual([status, headers['x-service-allowance']], [200, undefined], 'metered by the day');
  }
  stand.clock.now = Date.UTC(2026, 1, 2, 12) - 1;
  for (let n = 0; n < 20; n++) assert.equal((await ada.ask()).headers['x-service-daily-allowance'], '40');
  // The plan ends. Its days were paid for, and so is the share of this one; the month has the others.
  stand.clock.now += 1;
  const spent = await ada.ask();
  assert.deepEqual([spent.status, JSON.parse(spent.text).resets_at], [402, '2026-02-03T00:00:00.000Z']);
  for (const left of ['27', '26']) {
    stand.clock.now += 86_400_000;
    const after = await ada.ask();
    assert.deepEqual([after.status, after.headers['x-service-remaining']], [200, left]);
    assert.equal((await ada.ask()).status, 402);
  }
});

test('a monthly plan with a burst takes several days’ shares on one day, and then the month is spent', async (t) => {
  const stand = await recordsStand(t, { KEYED_DAILY: '1' }, Date.UTC(2026, 1, 1, 12));
  const ada = customerOf(stand, 'monthly');
  stand.app.store.records.meter.setBurst(ada.id, 20);
  const ask20 = async () => {
    const answers: Answer[] = [];
    for (let n = 0; n < 20; n++) answers.push(await ada.ask());
    return answers;
  };
  const first = await ask20();
  assert(first.every(({ status }) => status === 200));
  assert.equal(first[0]?.headers['x-service-burst'], '20');
  assert.equal(first[0]?.headers['x-service-daily-allowance'], '20');
  const spent = await ada.ask();
  assert.equal(spent.status, 402);
  assert.equal(JSON.parse(spent.text).resets_at, '2026-02-02T00:00:00.000Z');

  stand.clock.now = Date.UTC(2026, 1, 2, 12);
  const second = await ask20();
  assert.deepEqual(
    second.map(({ status }) => status),
    [...Array(8).fill(200), ...Array(12).fill(402)],
    'February has 28 shares',
  );
  assert.equal(second[0]?.headers['x-service-daily-allowance'], '8');
  assert.equal(second[0]?.headers['x-service-remaining'], '7');
  assert.equal(JSON.parse(second[8]?.text ?? '').resets_at, '2026-03-01T00:00:00.000Z');
  stand.clock.now = Date.UTC(2026, 2, 1);
  assert.equal((await ada.ask()).headers['x-service-remaining'], '30');
});

test('a request of 23:59:59.999 UTC belongs to that day, wherever its answer falls', async (t) => {
  const stand = await recordsStand(t, { KEYED_DAILY: '1' }, MIDNIGHT - 1);
  const ada = customerOf(stand);
  // The hostname is looked up after midnight.
  const { records } = stand.app.store;
  const { find } = records;
  records.find = (name) => {
    stand.clock.now = MIDNIGHT + 5;
    return find(name);
  };
  const late = await ada.ask();
  assert.equal(late.status, 200);
  assert.equal(late.headers['x-service-daily-reset'], unix(MIDNIGHT));
  assert.equal(late.headers['x-service-daily-remaining'], '0');
  const day = (name: string) => stand.app.store.records.meter.days(ada.id, name)[0];
  assert.deepEqual(day('2026-11-21'), { day: '2026-11-21', included: 1, drawn: 0, refused: 0, failed: 0 });

  topUp(stand, ada, 100_000);
  stand.clock.now = MIDNIGHT - 1;
  const failed = await ada.ask(NOWHERE);
  assert.equal(failed.status, 404);
  assert.equal(failed.headers['x-service-usage-day'], '0', 'what is told is of the new day');
  assert.equal(failed.headers['x-service-daily-reset'], unix(MIDNIGHT + 86_400_000));
  assert.deepEqual(day('2026-11-21'), { day: '2026-11-21', included: 1, drawn: 0, refused: 0, failed: 1 });
  assert.equal(stand.app.store.records.credits.balance(ada.id), 100_000);
});

test('every read route is metered, and scanners’ keys cannot read', async (t) => {
  const stand = await recordsStand(t, {}, NOON);
  const ada = customerOf(stand);
  const scanner = await ask(stand.url, DOOR, { 'x-service-key': stand.keyOf('scanner') });
  assert.equal(scanner.status, 403);
  assert.deepEqual(meterOf(scanner), {});
  assert.equal((await ada.ask('/v1/changes?limit=many')).status, 400, 'a door of lists is metered too');
  assert.equal((await ada.ask('/v1/changes')).headers['x-service-usage'], '1');
});
