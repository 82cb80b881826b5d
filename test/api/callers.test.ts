import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import type { HttpBindings } from '@hono/node-server';
import { callerOf, proxyList } from '../../api/middleware/caller.ts';
import { READS } from '../../src/shared/limits.ts';
import { tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const DOOR = '/the-gate/api/v1/sections';

/** A request as it comes in from a peer. */
function from(remoteAddress: string, forwarded?: string): HttpBindings {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { incoming: { socket: { remoteAddress }, headers } } as unknown as HttpBindings;
}

const ipv4 = fc.ipV4().filter((address) => !address.startsWith('10.'));

test('X-Forwarded-For from an untrusted proxy is ignored', () => {
  const proxies = proxyList(['10.0.0.0/8', '2001:db8:ffff::/48']);
  fc.assert(
    fc.property(ipv4, fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (peer, forwarded) => {
      assert.equal(callerOf(from(peer, forwarded), proxies), peer);
      assert.equal(callerOf(from(`::ffff:${peer}`, forwarded), proxies), peer);
    }),
  );
});

test('an IPv4 address in IPv6 clothes is an IPv4 address, however it is written', () => {
  const proxies = proxyList(['10.0.0.0/8']);
  fc.assert(
    fc.property(ipv4, (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
      const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
      for (const clothes of [
        `::ffff:${address}`,
        `::FFFF:${hex(a, b)}:${hex(c, d)}`,
        `0:0:0:0:0:ffff:${hex(a, b).padStart(4, '0')}:${hex(c, d).padStart(4, '0')}`,
        `0000:0000:0000:0000:0000:ffff:${address}`,
      ]) {
        assert.equal(callerOf(from(clothes), proxies), address);
        assert.equal(callerOf(from('10.0.0.1', clothes), proxies), address);
        assert.equal(callerOf(from('::ffff:a00:1', clothes), proxies), address, 'the proxy is known so too');
      }
    }),
  );
});

test('ports that a proxy adds to addresses are dropped', () => {
  const proxies = proxyList(['10.0.0.0/8', '2001:db8:ffff::/48']);
  const port = fc.integer({ min: 0, max: 65_535 });
  fc.assert(
    fc.property(ipv4, port, (address, number) => {
      for (const through of ['', ', 10.1.2.3:443', ', [2001:db8:ffff::9]:443', ', [2001:db8:ffff::9]']) {
        assert.equal(callerOf(from('10.0.0.1', `${address}:${number}${through}`), proxies), address);
      }
      assert.equal(callerOf(from('10.0.0.1', `[::ffff:${address}]:${number}`), proxies), address);
      assert.equal(callerOf(from('10.0.0.1', `[2001:db8:1:2::5]:${number}`), proxies), '2001:db8:1:2::/64');
    }),
  );
  assert.equal(callerOf(from('10.0.0.1', '[2001:db8:1:2::5]'), proxies), '2001:db8:1:2::/64');
});

test('behind trusted proxies the caller is the last untrusted address', () => {
  const proxies = proxyList(['10.0.0.0/8', '2001:db8:ffff::/48']);
  const proxy = fc.constantFrom('10.0.0.1', '10.255.255.255', '::ffff:10.1.2.3', '2001:db8:ffff::9');
  const anything = fc.array(
    fc.oneof(
      fc.ipV4(),
      fc.string().map((text) => text.replaceAll(',', '')),
    ),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(proxy, anything, ipv4, fc.array(proxy, { maxLength: 3 }), (peer, claimed, caller, through) => {
      const forwarded = [...claimed, caller, ...through].join(', ');
      assert.equal(callerOf(from(peer, forwarded), proxies), caller);
    }),
  );
  // A proxy that says nothing, or nothing that is an address, counts itself.
  for (const forwarded of [undefined, '', 'unknown', '203.0.113.7, unknown', '203.0.113.7:port']) {
    assert.equal(callerOf(from('10.0.0.1', forwarded), proxies), '10.0.0.1');
  }
});

test('an IPv6 caller is counted by its /64, however it is written', () => {
  const none = proxyList([]);
  const group = fc.integer({ min: 0, max: 0xffff });
  const groups = (length: number) => fc.array(group, { minLength: length, maxLength: length });
  const whole = (parts: number[]) => parts.map((part) => part.toString(16)).join(':');
  const padded = (parts: number[]) => parts.map((part) => part.toString(16).padStart(4, '0').toUpperCase()).join(':');
  fc.assert(
    fc.property(groups(4), groups(4), groups(4), group, (net, host, other, last) => {
      const caller = callerOf(from(whole([...net, ...host])), none);
      assert.equal(callerOf(from(padded([...net, ...other])), none), caller);
      assert.equal(callerOf(from(`${whole([...net, ...host])}%eth0`), none), caller);
      const [one = 0] = net;
      const short = new URL(`http://[${whole([...net, 0, 0, 0, last])}]/`).hostname.slice(1, -1);
      assert.equal(callerOf(from(short), none), caller);
      assert.notEqual(callerOf(from(whole([one ^ 1, ...net.slice(1), ...host])), none), caller);
      assert.notEqual(callerOf(from(whole([...net.slice(0, 3), (net[3] ?? 0) ^ 1, ...host])), none), caller);
    }),
  );
});

test('callers without a key are counted, each for itself', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'the-gate' }]);
  const { url } = await serveHere(t, folder, { TRUSTED_PROXIES: '127.0.0.1' });
  const by = (forwarded: string, more: Record<string, string> = {}) =>
    send(url, { path: DOOR, headers: { 'x-forwarded-for': forwarded, ...more } });

  await exhaust(t, url, '203.0.113.7');
  const refused = await by('203.0.113.7');
  assert.equal(refused.status, 429);
  assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
  assert.ok(Number(refused.headers['retry-after']) <= READS.duration);
  assert.equal(refused.headers['cache-control'], 'no-store');
  assert.equal(refused.headers['access-control-allow-origin'], '*');
  assert.equal(JSON.parse(refused.text).error, 'rate_limited');
  assert.doesNotMatch(refused.text, /203\.0/);

  // What a caller writes before its proxy's own words changes nothing.
  for (const claimed of ['198.51.100.1, 203.0.113.7', '127.0.0.1, 203.0.113.7', 'x,203.0.113.7 ']) {
    assert.equal((await by(claimed)).status, 429, claimed);
  }
  assert.equal((await by('203.0.113.8')).status, 200, 'the neighbour is another');
  assert.equal((await by('203.0.113.7, 198.51.100.1')).status, 200, 'the last one counts');
  assert.equal((await send(url, { path: '/the-gate/' })).status, 200, 'pages are not counted');

  const key = keys.get('the-gate')?.read ?? '';
  for (let round = 0; round < 3; round++) {
    assert.equal((await by('203.0.113.7', { 'x-nrf-key': key })).status, 200, 'a key is not counted');
  }
  assert.equal((await by('203.0.113.7')).status, 429);

  await exhaust(t, url, '2001:db8:1:2::1');
  assert.equal((await by('2001:0DB8:1:2:ffff::9')).status, 429, 'the same /64');
  assert.equal((await by('2001:db8:1:3::1')).status, 200, 'the next /64');
});

test('without trusted proxies, no caller can forge an address', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'the-gate' }]);
  const { url } = await serveHere(t, folder);
  await exhaust(t, url, '203.0.113.7');
  const { status } = await send(url, { path: DOOR, headers: { 'x-forwarded-for': '203.0.113.7' } });
  assert.equal(status, 200, 'the operator’s own machine is not counted');
});

/** Asks as often as one caller may. */
async function exhaust(t: TestContext, url: string, forwarded: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  t.after(() => agent.destroy());
  const { hostname, port } = new URL(url);
  const once = () =>
    new Promise<number>((resolve, reject) => {
      request({ hostname, port, path: DOOR, agent, headers: { 'x-forwarded-for': forwarded } }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      })
        .on('error', reject)
        .end();
    });
  const statuses = await Promise.all(Array.from({ length: READS.points }, once));
  assert.ok(statuses.every((status) => status === 200));
}
