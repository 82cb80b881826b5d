import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NETWORKS, priceInWords } from '../../src/records/meter/offer.ts';
import { parsePrices, priceOf } from '../../src/records/meter/payment-settings.ts';
import { readSettings } from '../../src/server/env.ts';

const WHOLE = {
  X402_FACILITATOR_URL: 'https://facilitator.example/x402',
  X402_PAY_TO: '0xABCDEF0000000000000000000000000000000001',
  X402_NETWORK: 'base',
  X402_ASSET: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
};

test('payment settings come all together or not at all, and the message names the missing one', () => {
  assert.equal(readSettings({}).x402, null);
  assert.equal(readSettings({ X402_RPC_URL: 'http://localhost:8545' }).x402, null);
  for (const missing of Object.keys(WHOLE)) {
    const env = { ...WHOLE, [missing]: '' };
    assert.throws(
      () => readSettings(env),
      new RegExp(`^Fault: ${missing}=…?: must be set where X402_\\w+ is`),
      missing,
    );
  }
});

test('networks go by both names, addresses in lower case, and USDC is known', () => {
  for (const name of ['base', 'eip155:8453']) {
    const { x402 } = readSettings({ ...WHOLE, X402_NETWORK: name });
    assert.equal(x402?.network.caip2, 'eip155:8453');
    assert.equal(x402?.payTo, WHOLE.X402_PAY_TO.toLowerCase());
    assert.deepEqual(x402?.asset, NETWORKS[0]?.usdc);
    assert.equal(x402?.rpc, null);
  }
});

test('another token needs the name and version of its EIP-712 domain', () => {
  const other = { ...WHOLE, X402_ASSET: WHOLE.X402_PAY_TO };
  assert.throws(() => readSettings(other), /X402_ASSET_NAME=: must be set where X402_ASSET is not the USDC of base/);
  assert.throws(() => readSettings({ ...other, X402_ASSET_NAME: 'Euro' }), /X402_ASSET_VERSION=/);
  const { x402 } = readSettings({ ...other, X402_ASSET_NAME: 'Euro', X402_ASSET_VERSION: '1' });
  assert.deepEqual([x402?.asset.name, x402?.asset.decimals], ['Euro', null]);
});

const BAD: Record<string, string[]> = {
  X402_PAY_TO: ['alice.eth', '0x12', 'ABCDEF0000000000000000000000000000000001'],
  X402_NETWORK: ['mainnet', 'eip155:1', 'BASE'],
  X402_PRICES: ['5000', '/v1/domains', '*=0', '*=-1', '*=1.5', '*=1e3', '*=1000000001', 'domains=5', '/v1/a=1;/v1/b=2'],
  X402_FACILITATOR_URL: ['facilitator.example', 'ftp://facilitator.example'],
  X402_RPC_URL: ['wss://node.example'],
};

test('an invalid payment setting is named, and an address that may hold a key is not shown', () => {
  for (const [name, values] of Object.entries(BAD)) {
    for (const value of values) {
      assert.throws(
        () => readSettings({ ...WHOLE, [name]: value }),
        new RegExp(`^Fault: ${name}=`),
        `${name}=${value}`,
      );
    }
  }
  assert.throws(
    () => readSettings({ X402_RPC_URL: 'wss://node.example/secret' }),
    (fault: Error) => !fault.message.includes('secret'),
  );
});

test('a price is that of the entry which names most of a path, else of all others', () => {
  const prices = parsePrices(['/v1/domains/{domain}/history=7', '/v1/domains/special.example=9', '*=11']);
  assert.ok(prices);
  const of = (path: string) => priceOf(prices, path).units;
  assert.deepEqual(
    [
      '/v1/domains/a.example',
      '/v1/domains/a.example/history',
      '/v1/domains/special.example',
      '/v1/domains',
      '/v1/domains/',
    ].map(of),
    [1_000, 7, 9, 11, 11],
  );
  assert.equal(of('/v1/domains/a.example/'), 11);
});

test('a price in words has no digit too many', () => {
  const { usdc: asset } = NETWORKS[0] as (typeof NETWORKS)[number];
  const words = (units: number) => priceInWords({ units, asset });
  assert.deepEqual([1, 1_000, 50_000, 1_000_000, 12_340_000].map(words), [
    '0.000001 USD Coin',
    '0.001 USD Coin',
    '0.05 USD Coin',
    '1 USD Coin',
    '12.34 USD Coin',
  ]);
  assert.equal(priceInWords({ units: 5, asset: { ...asset, decimals: null } }), '5 atomic units of USD Coin');
});
