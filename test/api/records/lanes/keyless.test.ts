import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempFolder } from '../../../support/app-context.ts';
import { type Answer, ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { recordsStand } from '../../../support/records-fixture.ts';
import { send } from '../../../support/send.ts';
import { serveHere } from '../../../support/serve-here.ts';

const DOOR = '/v1/domains/example.org';
const NOON = Date.UTC(2026, 10, 21, 12);
const BEHIND_PROXY = { TRUSTED_PROXIES: '127.0.0.1' };

const from = (address: string) => ({ 'x-forwarded-for': address });
const rateOf = ({ headers }: Answer) =>
  ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`] ?? null);
const seconds = (at: number) => String(at / 1_000);

test('one request in 15 seconds, then 429 with when and where to go', async (t) => {
  const { url, clock, enter } = await recordsStand(t, {}, NOON);
  enter(probe('example.org', NOON, { A: ['192.0.2.1'] }));
  const first = await ask(url, DOOR);
  assert.equal(first.status, 200, first.text);
  assert.equal(JSON.parse(first.text).preview, true);
  assert.deepEqual(rateOf(first), ['1', '0', seconds(NOON + 15_000)]);
  assert.equal(first.headers['retry-after'], undefined);

  clock.now = NOON + 14_001;
  const second = await ask(url, DOOR);
  assert.equal(second.status, 429);
  assert.deepEqual(
    rateOf(second),
    ['1', '0', seconds(NOON + 15_000)],
    'the wait goes on from the request that was let in',
  );
  assert.equal(second.headers['retry-after'], '1');
  const { error, message, docs, sign_in_url } = JSON.parse(second.text);
  assert.equal(error, 'throttled');
  assert.match(message, /try again in 1 second, sign in for a key, or read its public page$/);
  assert.equal(docs, 'http://localhost:4322/docs');
  assert.equal(sign_in_url, 'http://localhost:4322/account');

  clock.now = NOON + 15_000;
  assert.equal((await ask(url, DOOR)).status, 200, 'after exactly 15 seconds it is free');
});

test('a lookup that fails has used the caller’s 15 seconds, and says so', async (t) => {
  const { url } = await recordsStand(t, BEHIND_PROXY, NOON);
  for (const [n, [path, status]] of (
    [
      ['/v1/domains/nowhere.example', 404],
      ['/v1/domains/a..b.com', 400],
    ] as const
  ).entries()) {
    const failed = await ask(url, path, from(`192.0.2.${n}`));
    assert.equal(failed.status, status, failed.text);
    assert.deepEqual(rateOf(failed), ['1', '0', seconds(NOON + 15_000)]);
    assert.equal((await ask(url, path, from(`192.0.2.${n}`))).status, 429);
  }
});

test('IPv6 callers are counted by /64, and an address is believed from a named proxy alone', async (t) => {
  const behind = await recordsStand(t, BEHIND_PROXY, NOON);
  behind.enter(probe('example.org', NOON, { A: ['192.0.2.1'] }));
  const statuses = async (url: string, addresses: string[]) => {
    const seen: number[] = [];
    for (const address of addresses) seen.push((await ask(url, DOOR, from(address))).status);
    return seen;
  };
  assert.deepEqual(
    await statuses(behind.url, [
      '2001:db8:0:1::1',
      '2001:db8:0:1:ffff::2',
      '2001:db8:0:2::1',
      '::ffff:192.0.2.7',
      '192.0.2.7',
    ]),
    [200, 429, 200, 200, 429],
  );
  const bare = await recordsStand(t, {}, NOON);
  bare.enter(probe('example.org', NOON, { A: ['192.0.2.1'] }));
  assert.deepEqual(await statuses(bare.url, ['192.0.2.8', '192.0.2.9']), [200, 429]);
  // What is no address leaves the proxy's own, which all such callers share.
  assert.deepEqual(await statuses(behind.url, ['nonsense', '1'.repeat(4_000), '']), [200, 429, 429]);
});

test('past the shared ceiling the lane answers with a plain sign-in, never an error, until midnight UTC', async (t) => {
  const { url, clock, enter } = await recordsStand(t, { ...BEHIND_PROXY, KEYLESS_DAILY: '2' }, NOON);
  enter(probe('example.org', NOON, { A: ['192.0.2.1'] }));
  assert.equal((await ask(url, DOOR, from('192.0.2.1'))).status, 200);
  assert.equal((await ask(url, DOOR, from('192.0.2.1'))).status, 429, 'what is throttled is not counted');
  assert.equal((await ask(url, '/v1/domains/a..b.com', from('192.0.2.2'))).status, 400, 'what fails is');

  const midnight = Date.UTC(2026, 10, 22);
  for (const address of ['192.0.2.3', '192.0.2.3', '192.0.2.1']) {
    const closed = await ask(url, DOOR, from(address));
    assert.equal(closed.status, 200);
    const { message, ...rest } = JSON.parse(closed.text);
    assert.match(message, /^today’s lookups without a key are used up/);
    assert.deepEqual(rest, {
      sign_in: true,
      sign_in_url: 'http://localhost:4322/account',
      docs: 'http://localhost:4322/docs',
      resets_at: '2026-11-22T00:00:00.000Z',
    });
    assert.deepEqual(rateOf(closed), ['1', '0', seconds(midnight)]);
  }
  clock.now = midnight - 1;
  assert.equal(JSON.parse((await ask(url, DOOR, from('192.0.2.4'))).text).sign_in, true);
  clock.now = midnight;
  const open = await ask(url, DOOR, from('192.0.2.3'));
  assert.equal(JSON.parse(open.text).preview, true, 'a caller that was told to sign in has used nothing');
});

test('a key decides alone: a bad one is refused, and a good one is not throttled', async (t) => {
  const { url, enter, keyOf, app } = await recordsStand(t, {}, NOON);
  enter(probe('example.org', NOON, { A: ['192.0.2.1'] }));
  const key = keyOf('account');
  const [made] = app.store.records.serviceKeys.list(app.store.records.accounts.byEmail('ada@example.org')?.id ?? '');
  for (const bad of ['', 'drs_nothing', `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`]) {
    const refused = await ask(url, DOOR, { 'x-service-key': bad });
    assert.equal(refused.status, 401, bad);
    assert.deepEqual(rateOf(refused), [null, null, null]);
  }
  const doubled = await send(url, { path: DOOR, headers: { 'x-service-key': [key, key] } });
  assert.equal(doubled.status, 401, 'two keys are none');
  const oversized = await ask(url, DOOR, { 'x-service-key': `${key}${'0'.repeat(8_000)}` });
  assert.equal(oversized.status, 401);
  for (const level of ['service', 'operator'] as const) {
    const unmetered = { 'x-service-key': keyOf(level) };
    for (let n = 0; n < 3; n++) {
      const answer = await ask(url, DOOR, unmetered);
      assert.equal(answer.status, 200);
      assert.deepEqual(
        Object.keys(answer.headers).filter((name) => /ratelimit|x-service/.test(name)),
        [],
      );
    }
  }
  app.store.records.serviceKeys.revoke(made?.id ?? '', NOON, 'cli');
  const revoked = await ask(url, DOOR, { 'x-service-key': key });
  assert.equal(revoked.status, 401);
  assert.equal(JSON.parse(revoked.text).error, 'key_invalid');
  assert.equal((await ask(url, DOOR)).status, 200, 'none of these has used the address’s turn');
});

test('two processes share the 15 seconds and the ceiling', async (t) => {
  const folder = tempFolder(t);
  const settings = { SERVICES: 'records', TRUSTED_PROXIES: '127.0.0.1', KEYLESS_DAILY: '4' };
  const servers = await Promise.all([serveHere(t, folder, settings), serveHere(t, folder, settings)]);
  const urls = servers.map(({ records }) => records);
  const asked = (addresses: string[]) =>
    Promise.all(addresses.flatMap((address) => urls.map((url) => ask(url, DOOR, from(address)))));
  const byStatus = (answers: Answer[]) => answers.map(({ status }) => status).sort();
  assert.deepEqual(byStatus(await asked(['192.0.2.1', '192.0.2.2'])), [404, 404, 429, 429]);
  const rest = await asked(['192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6', '192.0.2.7']);
  assert.equal(rest.filter(({ status }) => status === 404).length, 2, 'the ceiling is one for both');
  assert(rest.every(({ status, text }) => status === 404 || status === 429 || JSON.parse(text).sign_in === true));
});
