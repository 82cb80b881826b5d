import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '../../src/server/env.ts';

test('the scanner’s settings are read, and a wrong one is named', () => {
  const settings = readSettings({
    RESOLVERS: '127.0.0.1:5353, [::1]:53,2001:db8::1',
    RESOLVER_RATE: '250',
    SCAN_EVERY: '90m',
    TLS_PRIVATE: '127.0.0.0/8,::1',
  });
  assert.partialDeepStrictEqual(settings, {
    resolvers: [
      { address: '127.0.0.1', port: 5_353 },
      { address: '::1', port: 53 },
      { address: '2001:db8::1', port: 53 },
    ],
    resolverRate: 250,
    scanEvery: 90 * 60_000,
    tlsPrivate: ['127.0.0.0/8', '::1'],
  });
  const bare = readSettings({});
  assert.partialDeepStrictEqual(bare, { resolvers: [], scanEvery: 24 * 3_600_000, tlsPrivate: [] });
  assert.equal(bare.resolverRate, undefined);
  for (const [name, value] of [
    ['RESOLVERS', 'dns.example'],
    ['RESOLVERS', '192.0.2.1:99999'],
    ['RESOLVER_RATE', '0'],
    ['SCAN_EVERY', '24'],
    ['SCAN_EVERY', '0s'],
    ['SCAN_EVERY', '500d'],
    ['TLS_PRIVATE', '10.0.0.0/33'],
  ] as const) {
    assert.throws(() => readSettings({ [name]: value }), new RegExp(`${name}=`), `${name}=${value}`);
  }
});
