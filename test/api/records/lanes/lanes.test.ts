import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { recordsStand } from '../../../support/records-stand.ts';

test('health tells what is watched, when it was last looked at, and how long callers waited', async (t) => {
  const { url, enter, clock } = await recordsStand(t);
  assert.deepEqual(JSON.parse((await ask(url, '/health')).text), {
    status: 'ok',
    domains: 0,
    last_scan_at: null,
    event_loop_delay_max_ms: 0,
    log_fence: null,
    disk: null,
    write_lock_held_ms: 0,
  });
  enter(probe('example.org', clock.now, { A: ['192.0.2.1'] }));
  const { status, text } = await ask(url, '/health');
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text), {
    status: 'ok',
    domains: 1,
    last_scan_at: new Date(clock.now).toISOString(),
    event_loop_delay_max_ms: 0,
    log_fence: null,
    disk: null,
    write_lock_held_ms: 0,
  });
});

test('a key that is none is refused on every door', async (t) => {
  const { url } = await recordsStand(t);
  const { status, text } = await ask(url, '/health', { 'x-service-key': 'drs_nothing' });
  assert.equal(status, 401, text);
  assert.equal(JSON.parse(text).error, 'key_invalid');
});

test('a file that is not among those of the build is not found', async (t) => {
  const { url } = await recordsStand(t);
  const { status, text } = await ask(url, '/_astro/records.00000000.css');
  assert.equal(status, 404, text);
});
