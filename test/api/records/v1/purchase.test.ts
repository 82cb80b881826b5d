import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PaymentRequiredV1Schema } from '@x402/core/schemas';
import { WITHOUT_CHAIN } from '../../../support/chain.ts';
import { decoded, PAYEE, paidStand, payment } from '../../../support/paid-fixture.ts';
import { send } from '../../../support/send.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

const CREDIT_UNITS = 50_000;
const BUY = '/v1/credits';

test('an account buys credits once per payment, even if the response is lost', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const { url, chain, facilitator, keyOf, app, clock } = await paidStand(t);
  const key = { 'X-Service-Key': keyOf('account') };
  const account = app.store.records.accounts.byEmail('ada@example.org')?.id ?? '';
  const post = (headers: Record<string, string>, body: object = { credits: 3 }) =>
    send(url, { method: 'POST', path: BUY, headers, body });
  const credits = () => app.store.records.credits.balance(account) / 1_000_000;

  for (const [body, field] of [
    [{}, 'credits'],
    [{ credits: '3' }, 'credits'],
    [{ credits: 0 }, 'credits'],
    [{ credits: 1.5 }, 'credits'],
    [undefined, 'body'],
  ] as const) {
    const answer = await send(url, { method: 'POST', path: `${BUY}?credits=3`, headers: key, ...(body && { body }) });
    assert.deepEqual([answer.status, JSON.parse(answer.text).field], [400, field], answer.text);
  }

  const menu = await post(key);
  assert.equal(menu.status, 402);
  const { accepts } = PaymentRequiredV1Schema.parse(JSON.parse(menu.text));
  assert.equal(accepts[0]?.maxAmountRequired, String(3 * CREDIT_UNITS));
  assert.match(JSON.parse(menu.text).message, /^3 credits cost 0\.15 USDC/);

  const payer = await chain.payer();
  const { headers: paid } = await payment(payer, 3 * CREDIT_UNITS);
  assert.equal((await post(paid)).status, 401, 'credits are an account’s');
  assert.equal((await post({ ...key, ...paid }, { credits: 1001 })).status, 400);
  assert.equal((await post({ ...key, ...paid }, { credits: 2 })).status, 402);
  assert.equal(credits(), 0);

  facilitator.treat(payer, { settle: 'fails' });
  assert.equal((await post({ ...key, ...paid })).status, 503);
  assert.equal(credits(), 0);
  facilitator.treat(payer, {});
  const answers = await Promise.all(Array.from({ length: 50 }, () => post({ ...key, ...paid })));
  for (const { status, text, headers } of answers) {
    assert.deepEqual([status, JSON.parse(text)], [200, { credits: 3, balance: 3 }]);
    assert.equal(decoded(headers['x-payment-response']).success, true);
  }
  const other = await post({ 'X-Service-Key': keyOf('account', 'bob@example.org'), ...paid });
  assert.equal(other.status, 409, 'a payment is for one account');
  clock.now += 48 * 3_600_000;
  assert.deepEqual(JSON.parse((await post({ ...key, ...paid })).text), { credits: 3, balance: 3 });
  assert.equal(await chain.balance(PAYEE), 3 * CREDIT_UNITS);
  assert.deepEqual(
    app.store.records.credits.entries(account, clock.now).map(({ kind, amount }) => [kind, amount]),
    [['top_up', 3_000_000]],
  );
});

test('credits are not sold on a facilitator’s word: without a node of the chain, or with one that does not answer', {
  skip: ONLY_WIDE || WITHOUT_CHAIN,
}, async (t) => {
  const blind = await paidStand(t, { node: false });
  const buy = (stand: typeof blind, headers: Record<string, string>) =>
    send(stand.url, { method: 'POST', path: BUY, body: { credits: 1 }, headers });
  const creditsAt = ({ app: { store } }: typeof blind) =>
    store.records.credits.balance(store.records.accounts.byEmail('ada@example.org')?.id ?? '');
  const key = { 'X-Service-Key': blind.keyOf('account') };
  const payer = await blind.chain.payer();
  const { headers: paid } = await payment(payer, CREDIT_UNITS);
  blind.facilitator.treat(payer, { verify: 'lies', settle: 'lies' });
  for (const headers of [key, { ...key, ...paid }]) {
    const answer = await buy(blind, headers);
    const { accepts, reason, message } = JSON.parse(answer.text);
    assert.deepEqual([answer.status, accepts, reason], [402, [], 'node_missing']);
    assert.match(message, /no node of the chain \(X402_RPC_URL\).*Nothing was charged/);
  }
  assert.equal(blind.facilitator.asked(payer, 'verify'), 0);

  const deaf = await paidStand(t, { more: { X402_RPC_URL: 'http://127.0.0.1:9' } });
  const other = await deaf.chain.payer();
  const own = { 'X-Service-Key': deaf.keyOf('account'), ...(await payment(other, CREDIT_UNITS)).headers };
  deaf.facilitator.treat(other, { settle: 'lies' });
  assert.equal((await buy(deaf, own)).status, 503);
  deaf.facilitator.treat(other, { verify: 'lies', settle: 'lies' });
  assert.equal((await buy(deaf, own)).status, 503);
  assert.deepEqual([creditsAt(blind), creditsAt(deaf)], [0, 0]);
});
