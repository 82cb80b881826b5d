import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PaymentRequiredV1Schema } from '@x402/core/schemas';
import { ask } from '../../support/http.ts';
import { decoded, PAYEE, paidStand, payment } from '../../support/paid-stand.ts';

const CREDIT_UNITS = 50_000;
const BUY = '/v1/credits?credits=3';

test('an account buys credits with a payment, once for each, whatever becomes of the answer', async (t) => {
  const { url, chain, facilitator, keyOf, shop, clock } = await paidStand(t);
  const key = { 'X-Service-Key': keyOf('account') };
  const account = shop.store.accounts.byEmail('ada@example.org')?.id ?? '';
  const post = (path: string, headers: Record<string, string>) => ask(url, path, headers, 'POST');
  const credits = () => shop.store.credits.balance(account) / 1_000_000;

  const menu = await post(BUY, key);
  assert.equal(menu.status, 402);
  const { accepts } = PaymentRequiredV1Schema.parse(JSON.parse(menu.text));
  assert.equal(accepts[0]?.maxAmountRequired, String(3 * CREDIT_UNITS));
  assert.match(JSON.parse(menu.text).message, /^3 credits cost 0\.15 USDC/);

  const payer = await chain.payer();
  const { headers: paid } = await payment(payer, 3 * CREDIT_UNITS);
  assert.equal((await post(BUY, paid)).status, 401, 'credits are an account’s');
  assert.equal((await post('/v1/credits?credits=1001', { ...key, ...paid })).status, 400);
  assert.equal((await post('/v1/credits?credits=2', { ...key, ...paid })).status, 402);
  assert.equal(credits(), 0);

  facilitator.treat(payer, { settle: 'fails' });
  assert.equal((await post(BUY, { ...key, ...paid })).status, 503);
  assert.equal(credits(), 0);
  facilitator.treat(payer, {});
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(BUY, { ...key, ...paid })));
  for (const { status, text, headers } of answers) {
    assert.deepEqual([status, JSON.parse(text)], [200, { credits: 3, balance: 3 }]);
    assert.equal(decoded(headers['x-payment-response']).success, true);
  }
  const other = await post(BUY, { 'X-Service-Key': keyOf('account', 'bob@example.org'), ...paid });
  assert.equal(other.status, 409, 'a payment is for one account');
  clock.now += 48 * 3_600_000;
  assert.deepEqual(JSON.parse((await post(BUY, { ...key, ...paid })).text), { credits: 3, balance: 3 });
  assert.equal(await chain.balance(PAYEE), 3 * CREDIT_UNITS);
  assert.deepEqual(
    shop.store.credits.entries(account, clock.now).map(({ kind, amount }) => [kind, amount]),
    [['top_up', 3_000_000]],
  );
});
