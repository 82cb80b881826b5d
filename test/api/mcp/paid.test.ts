import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PaymentRequiredV1Schema, PaymentRequiredV2Schema } from '@x402/core/schemas';
import { WITHOUT_CHAIN } from '../../support/chain.ts';
import { GENERATIONS, type Given, mcpUser } from '../../support/mcp.ts';
import {
  decoded,
  HOST,
  LIST_UNITS,
  LOOKUP_UNITS,
  PAYEE,
  paidStand,
  payment,
  type Signed,
} from '../../support/paid-fixture.ts';

/** What a client puts into `_meta` to pay: the payload itself, as an object. */
const paying = ({ headers }: Signed) => ({ 'x402/payment': decoded(Object.values(headers)[0]) });
const textOf = ({ content }: Given) => JSON.parse(content[0]?.text ?? '');

test('a call is paid for in band: the menu, the payment, the receipt, and nothing for nothing', {
  skip: WITHOUT_CHAIN,
}, async (t) => {
  const stand = await paidStand(t);
  const { url, chain } = stand;
  const payer = await chain.payer();
  let paid = 0;

  for (const generation of GENERATIONS) {
    const user = await mcpUser(t, generation, url);
    const menu = await user.call('list_domains');
    assert.equal(menu.isError, true);
    assert.equal(menu.structuredContent, undefined, 'a menu is not of the schema of the tool');
    const { accepts } = PaymentRequiredV1Schema.parse(textOf(menu));
    assert.deepEqual([accepts[0]?.payTo, accepts[0]?.maxAmountRequired], [PAYEE, String(LIST_UNITS)]);
    PaymentRequiredV2Schema.parse(menu._meta?.['x402/payment-required']);

    for (const version of [1, 2] as const) {
      const signed = await payment(payer, LIST_UNITS, { version });
      const served = await user.call('list_domains', {}, paying(signed));
      assert.ok(!served.isError, served.content[0]?.text);
      assert.equal(served.structuredContent?.total, 1);
      paid += LIST_UNITS;
      const receipt = served._meta?.['x402/payment-response'] as Record<string, unknown>;
      assert.equal(receipt.success, true);
      assert.equal(await chain.balance(PAYEE), paid);
      assert.equal(
        (await chain.node.getTransactionReceipt({ hash: receipt.transaction as `0x${string}` })).status,
        'success',
      );

      const again = await user.call('list_domains', {}, paying(signed));
      assert.deepEqual(again.structuredContent, served.structuredContent, 'what was paid for is given again');
      const other = await user.call('list_changes', {}, paying(signed));
      assert.equal(other.isError, true);
      assert.equal(textOf(other).error, 'conflict');
    }

    const full = await user.call('get_domain', { domain: HOST }, paying(await payment(payer, LOOKUP_UNITS)));
    assert.equal(full.structuredContent?.signed, true, 'a payment buys the full record');
    paid += LOOKUP_UNITS;

    const asked = await user.call('get_domain', { domain: HOST, pay: true });
    assert.equal(asked.isError, true, 'the price instead of a preview');
    const [lookup] = PaymentRequiredV1Schema.parse(textOf(asked)).accepts;
    assert.equal(lookup?.maxAmountRequired, String(LOOKUP_UNITS));
    PaymentRequiredV2Schema.parse(asked._meta?.['x402/payment-required']);
    const signed = await payment(payer, LOOKUP_UNITS);
    const bought = await user.call('get_domain', { domain: HOST, pay: true }, paying(signed));
    assert.equal(bought.structuredContent?.signed, true);
    paid += LOOKUP_UNITS;

    stand.clock.now += 15_000;
    const preview = await user.call('get_domain', { domain: HOST });
    const { preview: isPreview, held_back } = preview.structuredContent as never as Record<string, { offer?: object }>;
    assert.equal(isPreview, true, 'a call that asked to pay was not counted as one without a key');
    assert.deepEqual(Object.keys(held_back?.offer ?? {}), ['price', 'units', 'asset', 'network', 'url', 'how']);
    PaymentRequiredV2Schema.parse(preview._meta?.['x402/payment-required']);
    const throttled = await user.call('get_domain', { domain: HOST });
    assert.deepEqual(textOf(throttled).offer, held_back?.offer);

    const missing = await user.call(
      'get_domain',
      { domain: 'nobody.example' },
      paying(await payment(payer, LOOKUP_UNITS)),
    );
    assert.equal(textOf(missing).error, 'not_watched');
    const short = await user.call('list_changes', {}, paying(await payment(payer, 1)));
    assert.equal(short.isError, true);
    const odd = await user.call('list_changes', {}, { 'x402/payment': { x402Version: 1 } });
    assert.equal(textOf(odd).error, 'invalid_request');
    assert.equal(await chain.balance(PAYEE), paid, 'nothing of this was charged');
  }
});
