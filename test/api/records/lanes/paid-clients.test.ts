import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import { decodePaymentResponseHeader } from '@x402/fetch';
import { decodeXPaymentResponse } from 'x402-fetch';
import { NETWORK, WITHOUT_CHAIN } from '../../../support/chain.ts';
import { newClient, oldClient } from '../../../support/clients.ts';
import { ask } from '../../../support/http.ts';
import {
  decoded,
  HOST,
  LIST_UNITS,
  LOOKUP,
  LOOKUP_UNITS,
  PAYEE,
  paidStand,
  payment,
} from '../../../support/paid-fixture.ts';
import { probe } from '../../../support/probes.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

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

test('an unconfigured lane says so, with or without a payment', async (t) => {
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

test('clients of both generations buy a lookup, by address or by preference', { skip: WITHOUT_CHAIN }, async (t) => {
  const { url, chain } = await paidStand(t);
  let paid = 0;
  const [old, young] = [oldClient(await chain.payer(), chain), newClient(await chain.payer())];
  for (const pay of [old, young]) {
    for (const [path, headers] of [
      [`${LOOKUP}?pay=1`, {}],
      [LOOKUP, { Prefer: 'wait=5, payment' }],
    ] as const) {
      const bought = await pay(url + path, { headers });
      assert.equal(bought.status, 200, path);
      const { preview, signed, domain } = (await bought.json()) as Record<string, unknown>;
      assert.deepEqual([preview, signed, domain], [false, true, HOST]);
      assert.equal(bought.headers.get('cache-control'), 'private, no-store');
      paid += LOOKUP_UNITS;
      assert.equal(await chain.balance(PAYEE), paid);
    }
  }
});

test('a lookup that asks to pay gets the menu, and does not count against the keyless lane', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const { url, app } = await paidStand(t);
  for (const [path, headers] of [
    [`${LOOKUP}?pay=1`, {}],
    [LOOKUP, { Prefer: 'payment' }],
    ['/v1/domains/nobody.example?pay=1', {}],
  ] as const) {
    const { status, headers: got, text } = await ask(url, path, headers);
    assert.equal(status, 402, path);
    const v1 = PaymentRequiredV1Schema.parse(JSON.parse(text));
    const v2 = PaymentRequiredV2Schema.parse(decoded(got['payment-required']));
    assert.equal(v1.accepts[0]?.maxAmountRequired, String(LOOKUP_UNITS));
    assert.equal(v1.accepts[0]?.resource, app.settings.dataOrigin + path);
    assert.equal(v2.resource.url, app.settings.dataOrigin + path);
    assert.equal(got['cache-control'], 'no-store');
    assert.match(String(got.vary), /\bPrefer\b/);
    assert.equal(got['preference-applied'], 'Prefer' in headers ? 'payment' : undefined);
    assert.equal(got['x-ratelimit-limit'], undefined);
  }
  // None of the three counted as a request of the keyless lane.
  const preview = await ask(url, LOOKUP);
  assert.equal(preview.status, 200);
  assert.match(String(preview.headers.vary), /\bPrefer\b/);
  assert.equal(preview.headers['cache-control'], 'private, no-store');
});

test('previews, throttled and closed answers carry the offer that buys the record', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const { url, chain, clock, app } = await paidStand(t, { more: { KEYLESS_DAILY: '2' } });
  const asOf = `${LOOKUP}?as_of=2001-01-01`;
  const answers = [await ask(url, LOOKUP), await ask(url, asOf)];
  for (const path of [asOf, LOOKUP]) {
    clock.now += 15_000;
    answers.push(await ask(url, path));
  }
  // As of that day there is nothing, so nothing is offered.
  const [missing] = answers.splice(2, 1);
  assert.equal(missing?.status, 404);
  assert.equal(missing.headers['payment-required'], undefined);
  const [preview, throttled, closed] = answers.map(({ text }) => JSON.parse(text));
  assert.deepEqual(
    [answers.map(({ status }) => status), preview.preview, throttled.error, closed.sign_in],
    [[200, 429, 200], true, 'throttled', true],
  );
  const offers = [preview.held_back.offer, throttled.offer, closed.offer];
  for (const [at, offer] of offers.entries()) {
    const { price, asset, network, how, url: address } = offer;
    assert.deepEqual([price, asset, network], ['0.001 USDC', NETWORK.usdc.address, NETWORK.name]);
    assert.match(how, /pay=1.*Prefer: payment/);
    const v2 = PaymentRequiredV2Schema.parse(decoded(answers[at]?.headers['payment-required']));
    assert.equal(v2.accepts[0]?.amount, String(LOOKUP_UNITS));
    assert.equal(address, `${app.settings.dataOrigin}${at === 1 ? `${asOf}&` : `${LOOKUP}?`}pay=1`);
  }
  // What the preview names is what a client can buy, though the lane is closed.
  const bought = await newClient(await chain.payer())(
    preview.held_back.offer.url.replace(app.settings.dataOrigin, url),
  );
  assert.equal(((await bought.json()) as { signed: boolean }).signed, true);
  const page = await ask(url, `/t/${HOST}`, { Accept: 'application/json' });
  assert.deepEqual(JSON.parse(page.text).held_back.offer, preview.held_back.offer);
  assert.equal(page.headers['payment-required'], undefined, 'a page that is shared does not change with a payment');
});

test('where payments are closed, asking to pay says so, and nothing is offered', async (t) => {
  const stand = await recordsStand(t);
  stand.enter(probe(HOST, stand.clock.now, { A: ['192.0.2.1'] }));
  const menu = await ask(stand.url, `${LOOKUP}?pay=1`);
  assert.equal(menu.status, 402);
  assert.equal(JSON.parse(menu.text).reason, 'payments_closed');
  const preview = await ask(stand.url, LOOKUP);
  assert.equal(JSON.parse(preview.text).held_back.offer, undefined);
  assert.equal(preview.headers['payment-required'], undefined);
  const throttled = await ask(stand.url, LOOKUP);
  assert.equal(throttled.status, 429);
  assert.equal(JSON.parse(throttled.text).offer, undefined);
  // A key decides alone.
  const keyed = await ask(stand.url, `${LOOKUP}?pay=1`, { 'X-Service-Key': stand.keyOf('account'), Prefer: 'payment' });
  assert.equal(JSON.parse(keyed.text).signed, true);
  const odd = await ask(stand.url, `${LOOKUP}?pay=yes`, { 'X-Service-Key': stand.keyOf('account') });
  assert.equal(odd.status, 400);
  assert.equal(JSON.parse(odd.text).field, 'pay');
});

test('a payment for a lookup buys the full record', { skip: WITHOUT_CHAIN }, async (t) => {
  const { url, chain } = await paidStand(t);
  const payer = await chain.payer();
  const { status } = await ask(url, LOOKUP);
  assert.equal(status, 200);
  const { headers } = await payment(payer, LOOKUP_UNITS);
  const bought = await ask(url, LOOKUP, headers);
  assert.equal(bought.status, 200, bought.text);
  const body = JSON.parse(bought.text);
  assert.deepEqual([body.preview, body.signed], [false, true]);
  assert.equal(await chain.balance(PAYEE), LOOKUP_UNITS);
});

test('an address with rejected payments is throttled, and payers are not', {
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
