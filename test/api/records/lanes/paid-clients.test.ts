import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { decodeXPaymentResponse } from 'x402-fetch';
import { NETWORK, WITHOUT_CHAIN } from '../../../support/chain.ts';
import { newClient, oldClient } from '../../../support/clients.ts';
import { ask } from '../../../support/http.ts';
import { decoded, LIST_UNITS, LOOKUP, LOOKUP_UNITS, PAYEE, paidStand, payment } from '../../../support/paid-stand.ts';
import { recordsStand } from '../../../support/records-stand.ts';

test('clients of both generations pay for an answer, and the money is where it belongs', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const { url, chain } = await paidStand(t);
  const keyed = '/v1/domains';
  const [old, young] = [await chain.payer(), await chain.payer()];
  const payOld = oldClient(old, chain);
  const payYoung = newClient(young);

  const first = await payOld(url + keyed);
  assert.equal(first.status, 200);
  const { total } = (await first.json()) as { total: number };
  assert.equal(total, 1);
  assert.equal(first.headers.get('cache-control'), 'private, no-store');
  const told = decodeXPaymentResponse(first.headers.get('x-payment-response') ?? '');
  assert.deepEqual(
    { success: told.success, network: told.network, payer: told.payer },
    { success: true, network: 'base-sepolia', payer: old.address.toLowerCase() },
  );
  const { status } = await chain.node.getTransactionReceipt({ hash: told.transaction as `0x${string}` });
  assert.equal(status, 'success');

  const second = await payYoung(url + keyed);
  assert.equal(second.status, 200);
  assert.deepEqual(await second.json(), await (await payYoung(url + keyed)).json());
  const receipt = decodePaymentResponseHeader(second.headers.get('payment-response') ?? '');
  assert.equal(receipt.success, true);
  assert.equal(receipt.network, NETWORK.caip2);

  assert.equal(await chain.balance(old.address), 1_000_000 - LIST_UNITS);
  assert.equal(await chain.balance(young.address), 1_000_000 - 2 * LIST_UNITS);
  assert.equal(await chain.balance(PAYEE), 3 * LIST_UNITS);
});

test('the menu is one that both generations of clients read, with the price of the very route', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const { url, app } = await paidStand(t, { more: { X402_PRICES: '/v1/changes=77' } });
  for (const [path, units] of [
    ['/v1/domains?limit=2', '5000'],
    ['/v1/changes', '77'],
    [`${LOOKUP}/provenance`, '2000'],
  ] as const) {
    const { status, headers, text } = await ask(url, path);
    assert.equal(status, 402, path);
    const body = JSON.parse(text);
    const v1 = PaymentRequiredV1Schema.parse(body);
    const v2 = PaymentRequiredV2Schema.parse(decoded(headers['payment-required']));
    const resource = app.settings.dataOrigin + path;
    assert.equal(v1.accepts[0]?.maxAmountRequired, units);
    assert.equal(v1.accepts[0]?.resource, resource);
    assert.equal(v2.accepts[0]?.amount, units);
    assert.equal(v2.resource.url, resource);
    assert.deepEqual(v1.accepts[0]?.extra, { name: 'USDC', version: '2' });
    assert.equal(body.error, 'payment_required');
    assert.match(body.message, /USDC.*X-PAYMENT.*X-Service-Key/);
    assert.equal(headers['cache-control'], 'no-store');
  }
});

test('a lane that is not configured says so, whether or not a payment comes', async (t) => {
  const { url } = await recordsStand(t);
  const some: Record<string, string>[] = [{}, { 'X-PAYMENT': 'e30=' }];
  for (const headers of some) {
    const { status, headers: got, text } = await ask(url, '/v1/changes', headers);
    assert.equal(status, 402);
    const body = JSON.parse(text);
    assert.deepEqual([body.error, body.reason, body.accepts], ['payment_required', 'payments_closed', []]);
    assert.equal(got['payment-required'], undefined);
    assert.match(body.message, /X-Service-Key/);
  }
});

test('a payment for a lookup buys the full record', { skip: WITHOUT_CHAIN }, async (t) => {
  const { url, chain } = await paidStand(t);
  const payer = await chain.payer();
  // Without a payment a lookup is a preview, so the client is told the price by a refused one.
  const { status } = await ask(url, LOOKUP);
  assert.equal(status, 200);
  const { headers } = await payment(payer, LOOKUP_UNITS);
  const bought = await ask(url, LOOKUP, headers);
  assert.equal(bought.status, 200, bought.text);
  const body = JSON.parse(bought.text);
  assert.deepEqual([body.preview, body.signed], [false, true]);
  assert.equal(await chain.balance(PAYEE), LOOKUP_UNITS);
});

test('an address whose payments buy nothing is slowed down, and who pays is not', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const { url, chain } = await paidStand(t, { more: { TRUSTED_PROXIES: '127.0.0.1' } });
  const payer = await chain.payer();
  const short = (await payment(payer, 1)).headers;
  const from = (address: string) => ({ 'X-Forwarded-For': address });
  const statuses = [];
  for (let n = 0; n < 62; n++) statuses.push((await ask(url, LOOKUP, { ...short, ...from('192.0.2.9') })).status);
  assert.deepEqual(statuses, [...Array(60).fill(402), 429, 429]);
  const good = (await payment(payer, LOOKUP_UNITS)).headers;
  const slowed = await ask(url, LOOKUP, { ...good, ...from('192.0.2.9') });
  assert.equal(slowed.status, 429);
  assert.match(String(slowed.headers['retry-after']), /^[1-9]\d*$/);
  for (let n = 0; n < 70; n++) {
    assert.equal((await ask(url, LOOKUP, { ...good, ...from('192.0.2.10') })).status, 200);
  }
  assert.equal(await chain.balance(PAYEE), LOOKUP_UNITS);
});
