import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { recordsStand } from '../../../support/records-fixture.ts';
import { send } from '../../../support/send.ts';

const DOOR = '/v1/domains/example.org';
const ADA = 'ada@example.org';
const NOON = Date.UTC(2026, 10, 21, 12, 0, 20);
const DAY = 86_400_000;

test('usage reports the day, the month, the credits, the keys and every day, and is free', async (t) => {
  const stand = await recordsStand(t, { KEYED_DAILY: '2' }, NOON - DAY);
  const { url, app, clock, keyOf, enter } = stand;
  enter(probe('example.org', clock.now, { A: ['192.0.2.1'] }));
  const [key, other] = [keyOf('account', ADA), keyOf('account', ADA)];
  const id = app.store.records.accounts.byEmail(ADA)?.id ?? '';
  const [first, second] = app.store.records.serviceKeys.list(id);
  const by = (text: string, path = DOOR) => ask(url, path, { 'x-service-key': text });
  await by(key);
  clock.now = NOON;
  app.store.records.credits.append(id, { at: NOON, amount: 1_000_000, note: null });
  for (const text of [key, other, key]) await by(text);
  await by(other, '/v1/domains/nowhere.example');

  const expected = {
    at: '2026-11-21T12:00:20.000Z',
    plan: 'daily',
    burst: 1,
    today: {
      day: '2026-11-21',
      units: 3,
      included: 2,
      on_credits: 1,
      refused: 0,
      failed: 1,
      allowance: 2,
      remaining: 0,
      resets_at: '2026-11-22T00:00:00.000Z',
    },
    month: {
      month: '2026-11',
      units: 4,
      included: 3,
      on_credits: 1,
      refused: 0,
      failed: 1,
      allowance: null,
      remaining: null,
      resets_at: '2026-12-01T00:00:00.000Z',
    },
    credits: {
      cost_per_request: 0.05,
      allowance: 0.1,
      used: 0.15,
      remaining: 0,
      resets_at: '2026-11-22T00:00:00.000Z',
      balance: 0.95,
      top_up: 'http://localhost:4322/account/credits',
    },
    rate: { per_minute: 100 },
    bought_plan: null,
    exports: { used: 0, allowance: 1_000 },
    keys: [
      { id: first?.id, name: first?.name, revoked: false, today: 2, month: 3 },
      { id: second?.id, name: second?.name, revoked: false, today: 1, month: 1 },
    ],
    days: [
      { day: '2026-11-19', units: 0, included: 0, on_credits: 0, refused: 0, failed: 0 },
      { day: '2026-11-20', units: 1, included: 1, on_credits: 0, refused: 0, failed: 0 },
      { day: '2026-11-21', units: 3, included: 2, on_credits: 1, refused: 0, failed: 1 },
    ],
  };
  for (let n = 0; n < 2; n++) {
    const usage = await by(key, '/v1/usage?days=3');
    assert.equal(usage.status, 200, usage.text);
    assert.deepEqual(JSON.parse(usage.text), expected);
    assert.deepEqual(
      Object.keys(usage.headers).filter((name) => /^(?:x-service-|ratelimit)/.test(name)),
      [],
    );
    assert.equal(usage.headers['cache-control'], 'private, no-store');
  }
  assert.equal(JSON.parse((await by(key, '/v1/usage')).text).days.length, 31);

  app.store.records.accounts.setPlan(id, 'monthly');
  const { month } = JSON.parse((await by(key, '/v1/usage')).text);
  assert.deepEqual([month.allowance, month.remaining], [60, 57]);

  for (const days of ['0', '367', '1.5', '0x10', '', 'many']) {
    const refused = await by(key, `/v1/usage?days=${days}`);
    assert.equal(refused.status, 400, days);
    assert.equal(JSON.parse(refused.text).field, 'days');
  }
  assert.equal((await ask(url, '/v1/usage')).status, 401);
  assert.equal((await by(keyOf('service'), '/v1/usage')).status, 403);
});

test('an operator tops credits up, once under a name, and takes no more away than there is', async (t) => {
  const { url, app, keyOf } = await recordsStand(t, {}, NOON);
  keyOf('account', ADA);
  const operator = { 'x-service-key': keyOf('operator') };
  const move = (body: object | string, headers: Record<string, string> = operator, email = ADA) =>
    send(url, { method: 'POST', path: `/v1/accounts/${encodeURIComponent(email)}/credits`, headers, body });

  const named = { ...operator, 'idempotency-key': 'invoice 114' };
  const first = await move({ amount: '25.5', note: 'invoice 114' }, named, ' Ada@Example.org');
  assert.equal(first.status, 201, first.text);
  assert.deepEqual(JSON.parse(first.text), {
    email: ADA,
    balance: 25.5,
    entry: {
      seq: 1,
      at: '2026-11-21T12:00:20.000Z',
      kind: 'top_up',
      amount: 25.5,
      balance: 25.5,
      day: null,
      note: 'invoice 114',
    },
  });
  const again = await move({ amount: '25.5', note: 'invoice 114' }, named, ' Ada@Example.org');
  assert.equal(again.text, first.text);
  const reused = await move({ amount: '26' }, named);
  assert.equal(reused.status, 422);

  const corrected = JSON.parse((await move({ amount: -0.5 })).text);
  assert.deepEqual([corrected.entry.kind, corrected.entry.amount, corrected.balance], ['correction', -0.5, 25]);
  const id = app.store.records.accounts.byEmail(ADA)?.id ?? '';
  const tooMuch = await move({ amount: '-25.000001' });
  assert.equal(tooMuch.status, 409);
  assert.match(tooMuch.text, /25\.000001 credits cannot be deducted: only 25 are left/);

  const cases: [body: object | string, status: number, field?: string][] = [
    [{ amount: 0 }, 400, 'amount'],
    [{ amount: '1e3' }, 400, 'amount'],
    [{ amount: '0.0000001' }, 400, 'amount'],
    [{ amount: '1000000.000001' }, 400, 'amount'],
    [{ amount: null }, 400, 'amount'],
    [{}, 400, 'amount'],
    [{ amount: 1, note: 'a\nb' }, 400, 'note'],
    ['{', 400, 'body'],
  ];
  for (const [body, status, field] of cases) {
    const headers = { ...operator, 'content-type': 'application/json' };
    const refused = await move(body, headers);
    assert.equal(refused.status, status, refused.text);
    assert.equal(JSON.parse(refused.text).field, field, refused.text);
  }
  assert.equal((await move({ amount: 1 }, operator, 'nobody@example.org')).status, 404);
  assert.equal((await move({ amount: 1 }, {})).status, 401);
  for (const level of ['account', 'service', 'scanner'] as const) {
    assert.equal((await move({ amount: 1 }, { 'x-service-key': keyOf(level) })).status, 403, level);
  }
  assert.equal(app.store.records.credits.balance(id), 25_000_000);
  assert.equal(app.store.records.credits.entries(id, NOON).length, 2);
});

test('a top-up during a day gives one balance, which the ledger confirms later', async (t) => {
  const { app, url, keyOf, clock } = await recordsStand(t, { KEYED_DAILY: '1' }, NOON);
  const key = { 'x-service-key': keyOf('account', ADA) };
  const operator = { 'x-service-key': keyOf('operator') };
  const { store } = app;
  const id = store.records.accounts.byEmail(ADA)?.id ?? '';
  const move = async (amount: number) => {
    const { text } = await send(url, {
      method: 'POST',
      path: `/v1/accounts/${ADA}/credits`,
      headers: operator,
      body: { amount },
    });
    const { balance, entry } = JSON.parse(text);
    assert.equal(entry.balance, balance, text);
    assert.equal(balance, store.records.credits.balance(id) / 1_000_000);
    return balance;
  };
  const draw = async (count: number) => {
    for (let n = 0; n < count; n++) assert.equal((await ask(url, '/v1/services', key)).status, 200);
  };
  const ledger = () =>
    store.records.credits.entries(id, clock.now).map(({ seq, kind, amount, balance }) => [seq, kind, amount, balance]);

  assert.equal(await move(0.25), 0.25);
  await draw(1 + 4);
  const open = [null, 'draw', -200_000, 50_000];
  assert.deepEqual(ledger(), [open, [1, 'top_up', 250_000, 250_000]], 'what today drew is told before it is entered');
  assert.deepEqual(ledger()[0], open, 'and looking enters nothing');
  assert.equal(await move(0.02), 0.07);
  const lines = [
    [3, 'top_up', 20_000, 70_000],
    [2, 'draw', -200_000, 50_000],
    [1, 'top_up', 250_000, 250_000],
  ];
  assert.deepEqual(ledger(), lines);
  await draw(1);
  assert.deepEqual(ledger(), [[null, 'draw', -50_000, 20_000], ...lines]);
  assert.equal(await move(-0.02), 0);
  assert.deepEqual(ledger().length, 5);
  clock.now += 86_400_000;
  assert.deepEqual(ledger().length, 5, 'nothing of that day is left to be entered');
  assert.deepEqual(store.records.credits.faults(), []);
});
