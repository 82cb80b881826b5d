import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

test('health reports what is watched, the latest probe, and the longest wait of callers', async (t) => {
  const { url, enter, clock } = await recordsStand(t);
  // The delay is that of this process, which runs other tests as well.
  const { event_loop_delay_max_ms: delay, ...first } = JSON.parse((await ask(url, '/health')).text);
  assert.ok(Number.isInteger(delay) && delay >= 0, String(delay));
  assert.deepEqual(first, {
    status: 'ok',
    domains: 0,
    last_scan_at: null,
    log_fence: null,
    clock_fault: null,
    signing: { signs: true, why: null, message: null, since: null },
    disk: null,
    disks: { data: null, papers: null, log: null },
    write_lock_held_ms: 0,
  });
  enter(probe('example.org', clock.now, { A: ['192.0.2.1'] }));
  const { status, text } = await ask(url, '/health');
  assert.equal(status, 200);
  const { event_loop_delay_max_ms: _, ...second } = JSON.parse(text);
  assert.deepEqual(second, {
    status: 'ok',
    domains: 1,
    last_scan_at: new Date(clock.now).toISOString(),
    log_fence: null,
    clock_fault: null,
    signing: { signs: true, why: null, message: null, since: null },
    disk: null,
    disks: { data: null, papers: null, log: null },
    write_lock_held_ms: 0,
  });
});

test('an invalid key is rejected on every route', async (t) => {
  const { url } = await recordsStand(t);
  const { status, text } = await ask(url, '/health', { 'x-service-key': 'drs_nothing' });
  assert.equal(status, 401, text);
  assert.equal(JSON.parse(text).error, 'key_invalid');
});

test('a file outside the build is not found', async (t) => {
  const { url } = await recordsStand(t);
  const { status, text } = await ask(url, '/_astro/records.00000000.css');
  assert.equal(status, 404, text);
});

test('a key opens the same as a bearer token as in its own header', async (t) => {
  const stand = await recordsStand(t);
  const { url, keyOf, enter, clock } = stand;
  enter(probe('example.org', clock.now, { A: ['192.0.2.1'] }));
  const [key, other, operator] = [keyOf('account'), keyOf('account', 'grace@example.org'), keyOf('operator')];
  const own = await ask(url, '/v1/domains/example.org', { 'x-service-key': key });
  for (const authorization of [`Bearer ${key}`, `bearer  ${key} `]) {
    const { status, text } = await ask(url, '/v1/domains/example.org', { authorization });
    assert.equal(status, 200, text);
    assert.equal(text, own.text);
  }
  for (const path of ['/v1/changes', '/v1/usage', '/v1/exports/changes.csv']) {
    assert.equal((await ask(url, path, { authorization: `Bearer ${key}` })).status, 200, path);
  }
  assert.equal((await ask(url, '/v1/queue/stats', { authorization: `Bearer ${operator}` })).status, 200);
  const both = await ask(url, '/v1/usage', { authorization: `Bearer ${key}`, 'x-service-key': key });
  assert.equal(both.status, 200, both.text);

  for (const [path, headers, what] of [
    ['/v1/usage', { authorization: `Bearer ${key}`, 'x-service-key': other }, /different keys/],
    ['/v1/usage', { authorization: key }, /does not have the form `Bearer <key>`/],
    ['/health', { authorization: `Bearer ${key.slice(0, -1)}` }, /not a key/],
    ['/t/example.org', { authorization: 'Bearer drs_nothing' }, /not a key/],
  ] as const) {
    const { status, text, headers: answered } = await ask(url, path, headers);
    assert.equal(status, 401, text);
    assert.match(JSON.parse(text).message, what);
    assert.equal(answered['www-authenticate'], 'Bearer');
  }
  // A proxy in front may ask for a password of its own.
  assert.equal((await ask(url, '/health', { authorization: 'Basic dXNlcjpwYXNz' })).status, 200);
  const preflight = await ask(url, '/v1/usage', { origin: 'https://elsewhere.example' }, 'OPTIONS');
  assert.match(String(preflight.headers['access-control-allow-headers']), /(?:^|, )Authorization(?:,|$)/);
  const open = await ask(url, '/v1');
  assert.match(String(open.headers.vary), /Authorization/);
});
