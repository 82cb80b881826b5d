import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PaymentRequiredV1Schema } from '@x402/core/schemas';
import { createCheckout } from '../../../../src/records/checkout.ts';
import { chainClient } from '../../../../src/records/meter/chain.ts';
import { FREE } from '../../../../src/records/meter/plan.ts';
import { finishPlanOrders } from '../../../../src/records/plans.ts';
import { WITHOUT_CHAIN } from '../../../support/chain.ts';
import { decoded, PAYEE, paidStand, payment } from '../../../support/paid-fixture.ts';
import { send } from '../../../support/send.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

const DAY = 86_400_000;
const SMALL = { daily: 5_000, per_minute: 200, watch: 50, streams: 12, exports: 2_000, price: 3_000, days: 30 };
const LARGE = { daily: 50_000, per_minute: 900, watch: 500, streams: 40, exports: 9_000, price: 9_000, days: 30 };

test('an account buys, renews and changes plans, once per payment, whatever becomes of the answers', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const { url, chain, facilitator, keyOf, app, clock } = await paidStand(t);
  const { plans } = app.store.records;
  plans.set({ name: 'small', ...SMALL });
  plans.set({ name: 'large', ...LARGE });
  const key = { 'X-Service-Key': keyOf('account') };
  const account = app.store.records.accounts.byEmail('ada@example.org')?.id ?? '';
  const post = (name: string, headers: Record<string, string>) =>
    send(url, { method: 'POST', path: `/v1/plans/${name}`, headers });

  const list = JSON.parse((await send(url, { path: '/v1/plans' })).text);
  assert.deepEqual(
    list.items.map((plan: { name: string; price: string | null }) => [plan.name, plan.price]),
    [
      [FREE, null],
      ['small', '0.003 USDC'],
      ['large', '0.009 USDC'],
    ],
  );

  const menu = await post('small', key);
  assert.equal(menu.status, 402);
  const { accepts } = PaymentRequiredV1Schema.parse(JSON.parse(menu.text));
  assert.deepEqual([accepts[0]?.maxAmountRequired, accepts[0]?.payTo], ['3000', PAYEE]);
  assert.match(JSON.parse(menu.text).message, /^the plan small costs 0\.003 USDC for 30 days/);

  const payer = await chain.payer();
  const { headers: paid } = await payment(payer, 3_000);
  assert.equal((await post('small', paid)).status, 401, 'a plan is an account’s');
  assert.equal((await post('none', { ...key, ...paid })).status, 404);
  assert.equal((await post(encodeURIComponent('a\u0000\u202e'), { ...key, ...paid })).status, 404);
  const wrong = await post('large', { ...key, ...paid });
  assert.deepEqual([wrong.status, JSON.parse(wrong.text).reason], [402, 'wrong_amount']);
  assert.equal(plans.last(account), null);

  // The facilitator fails, then fifty requests come at once.
  facilitator.treat(payer, { settle: 'fails' });
  assert.equal((await post('small', { ...key, ...paid })).status, 503);
  assert.equal(plans.last(account), null);
  facilitator.treat(payer, {});
  const answers = await Promise.all(Array.from({ length: 50 }, () => post('small', { ...key, ...paid })));
  const receipts = new Set(answers.map(({ text }) => text));
  assert.deepEqual(
    [receipts.size, new Set(answers.map(({ status }) => status))],
    [1, new Set([200])],
    [...receipts][0],
  );
  const receipt = JSON.parse(answers[0]?.text ?? '');
  assert.equal(decoded(answers[0]?.headers['x-payment-response']).success, true);
  assert.equal(Date.parse(receipt.ends_at) - Date.parse(receipt.starts_at), 30 * DAY);
  assert.equal(await chain.balance(PAYEE), 3_000);
  assert.deepEqual(
    plans.receipts(account).map(({ plan, seq }) => [plan, seq]),
    [['small', 1]],
  );

  // It is in force: for the meter, and for what it says of itself.
  const usage = JSON.parse((await send(url, { path: '/v1/usage', headers: key })).text);
  assert.deepEqual(usage.bought_plan, { name: 'small', ends_at: receipt.ends_at });
  assert.deepEqual([usage.today.allowance, usage.rate.per_minute, usage.exports.allowance], [5_000, 200, 2_000]);
  const read = await send(url, { path: '/v1/services', headers: key });
  assert.equal(read.headers['x-service-daily-allowance'], '5000');

  // Of another account, and for another plan, the payment is spent.
  const other = await post('small', { 'X-Service-Key': keyOf('account', 'bob@example.org'), ...paid });
  assert.deepEqual([other.status, JSON.parse(other.text).reason], [409, 'other_request']);
  plans.set({ name: 'same', ...SMALL });
  const elsewhere = await post('same', { ...key, ...paid });
  assert.deepEqual([elsewhere.status, JSON.parse(elsewhere.text).reason], [409, 'other_request']);

  // Two payments at once are two renewals, one after the other.
  const two = await Promise.all([payment(payer, 3_000), payment(payer, 3_000)]);
  for (const { status, text } of await Promise.all(two.map(({ headers }) => post('small', { ...key, ...headers })))) {
    assert.equal(status, 200, text);
  }
  assert.equal(Number(plans.last(account)?.ends_at) - Date.parse(receipt.starts_at), 90 * DAY);

  // The chain has the machine's clock, and payments are valid by it.
  const until = String(Math.floor(Date.now() / 1_000) + 400 * 86_400);
  // A day later the rest is worth a third of its days in the plan that costs three times as much.
  clock.now += DAY;
  const { headers: more } = await payment(payer, 9_000, { validBefore: until });
  const changed = JSON.parse((await post('large', { ...key, ...more })).text);
  const left = Date.parse(receipt.starts_at) + 90 * DAY - clock.now;
  assert.equal(Date.parse(changed.ends_at), clock.now + 30 * DAY + Math.floor(left / 3));
  assert.equal(changed.carried_seconds, Math.floor(left / 3 / 1_000));

  // The price changed between the menu and the payment: nothing is charged.
  const before = await chain.balance(PAYEE);
  const { headers: late } = await payment(payer, 9_000, { validBefore: until });
  plans.set({ name: 'large', ...LARGE, price: 9_001 });
  const refused = await post('large', { ...key, ...late });
  assert.deepEqual([refused.status, JSON.parse(refused.text).reason], [402, 'wrong_amount']);
  assert.equal(JSON.parse(refused.text).accepts[0].maxAmountRequired, '9001');
  assert.equal(await chain.balance(PAYEE), before);

  // Taken off sale, it stays with who holds it, and its payments still have their receipts.
  assert.equal(plans.remove('large'), true);
  assert.equal((await post('large', { ...key, ...more })).text, JSON.stringify(changed));
  assert.equal((await post('large', { ...key, ...late })).status, 404);
  const held = JSON.parse((await send(url, { path: '/v1/account/plans', headers: key })).text);
  assert.deepEqual([held.plan.name, held.limits.watch, held.total], ['large', 500, 4]);

  // It ends by itself, at its very ms.
  clock.now = Date.parse(changed.ends_at) - 1;
  assert.equal(JSON.parse((await send(url, { path: '/v1/usage', headers: key })).text).bought_plan.name, 'large');
  clock.now += 1;
  assert.equal(JSON.parse((await send(url, { path: '/v1/usage', headers: key })).text).bought_plan, null);
  assert.equal((await post('large', { ...key, ...more })).status, 200, 'a receipt stays');
  assert.deepEqual(plans.faults(), []);

  const mails = app.store.records.accountMails.ofAccount(account).filter(({ kind }) => kind === 'plan');
  assert.equal(mails.length, 4, 'a receipt for each purchase, once');
});

test('a settlement that nobody saw is finished by the payer, or by the service itself, under the terms of the order', {
  skip: ONLY_WIDE || WITHOUT_CHAIN,
}, async (t) => {
  const { url, chain, facilitator, keyOf, app } = await paidStand(t);
  const { plans } = app.store.records;
  plans.set({ name: 'small', ...SMALL });
  const post = (headers: Record<string, string>) => send(url, { method: 'POST', path: '/v1/plans/small', headers });
  const accountOf = (email: string) => app.store.records.accounts.byEmail(email)?.id ?? '';
  const ada = { 'X-Service-Key': keyOf('account') };
  const bob = { 'X-Service-Key': keyOf('account', 'bob@example.org') };
  const checkout = createCheckout(app);
  assert(checkout !== null);
  const parts = { checkout, chain: chainClient(chain.url) };

  // The facilitator fails, and the money moves later; meanwhile the plan costs more, or is gone.
  const buyers = [
    [await chain.payer(), ada],
    [await chain.payer(), bob],
  ] as const;
  const signed = await Promise.all(buyers.map(([payer]) => payment(payer, 3_000)));
  for (const [payer] of buyers) facilitator.treat(payer, { settle: 'fails' });
  for (const { status } of await Promise.all(buyers.map(([, key], n) => post({ ...key, ...signed[n]?.headers })))) {
    assert.equal(status, 503);
  }
  assert.deepEqual(await finishPlanOrders(app, parts), { finished: 0, next: '' }, 'it moves no money itself');
  plans.set({ name: 'small', ...SMALL, price: 5_000, daily: 7_000 });
  for (const { authorization, signature } of signed) await chain.carryOut(authorization, signature);
  // While the service is set to another chain or token, that one says nothing of these payments.
  const { x402 } = app.settings;
  assert(x402 !== null);
  const expired = { ...parts.chain, status: async () => ({ void: 'expired' as const }) };
  for (const elsewhere of [
    { network: { ...x402.network, caip2: 'eip155:1' as const } },
    { asset: { ...x402.asset, address: PAYEE } },
  ]) {
    const moved: typeof app = { ...app, settings: { ...app.settings, x402: { ...x402, ...elsewhere } } };
    assert.equal((await finishPlanOrders(moved, { checkout, chain: expired })).finished, 0);
    assert.equal(plans.open('', 9).length, 2, 'an order whose money arrived is not forgotten');
  }
  // One payer comes back, the other one does not.
  assert.equal((await post({ ...ada, ...signed[0]?.headers })).status, 200);
  plans.remove('small');
  assert.equal((await finishPlanOrders(app, parts)).finished, 1);
  for (const [n, email] of ['ada@example.org', 'bob@example.org'].entries()) {
    const last = plans.last(accountOf(email));
    assert.deepEqual([last?.plan, last?.daily, last?.price, last?.seq], ['small', 5_000, 3_000, 1], email);
    const again = await post({ ...buyers[n]?.[1], ...signed[n]?.headers });
    assert.equal(again.status, 200, again.text);
  }
  assert.deepEqual(await finishPlanOrders(app, parts), { finished: 0, next: '' });
  assert.deepEqual([plans.open('', 9), plans.faults()], [[], []]);
  assert.equal(await chain.balance(PAYEE), 6_000);
});

test('plans are not sold without a node of the chain, nor on a facilitator’s word', {
  skip: ONLY_WIDE || WITHOUT_CHAIN,
}, async (t) => {
  const blind = await paidStand(t, { node: false });
  const sell = ({ app }: typeof blind) => app.store.records.plans.set({ name: 'small', ...SMALL });
  sell(blind);
  const buy = ({ url, keyOf }: typeof blind, headers: Record<string, string> = {}) =>
    send(url, { method: 'POST', path: '/v1/plans/small', headers: { 'X-Service-Key': keyOf('account'), ...headers } });
  const payer = await blind.chain.payer();
  blind.facilitator.treat(payer, { verify: 'lies', settle: 'lies' });
  for (const headers of [{}, (await payment(payer, 3_000)).headers]) {
    const answer = await buy(blind, headers);
    const { accepts, reason } = JSON.parse(answer.text);
    assert.deepEqual([answer.status, accepts, reason], [402, [], 'node_missing']);
  }
  assert.equal(blind.facilitator.asked(payer, 'verify'), 0);

  const deaf = await paidStand(t, { more: { X402_RPC_URL: 'http://127.0.0.1:9' } });
  sell(deaf);
  const other = await deaf.chain.payer();
  deaf.facilitator.treat(other, { verify: 'lies', settle: 'lies' });
  assert.equal((await buy(deaf, (await payment(other, 3_000)).headers)).status, 503);
  assert.deepEqual(
    [blind, deaf].map(({ app }) =>
      app.store.records.plans.last(app.store.records.accounts.byEmail('ada@example.org')?.id ?? ''),
    ),
    [null, null],
  );
});
