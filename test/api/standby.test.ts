import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { pino } from 'pino';
import { privateKeyToAccount } from 'viem/accounts';
import type { DeskEnv, RecordsEnv } from '../../api/env.ts';
import { refuseOnStandby } from '../../api/middleware/standby.ts';
import { paidLane } from '../../api/records/lanes/paid.ts';
import type { Checkout } from '../../src/records/meter/checkout.ts';
import { readSettings } from '../../src/server/env.ts';
import { Busy } from '../../src/shared/fault.ts';
import { LOOKUP, LOOKUP_UNITS, paidEnv, payment } from '../support/paid-fixture.ts';

function server({ holds }: { holds: () => boolean }) {
  const settings = readSettings({ LEASE_URL: 's3://papers/lease' });
  const assertHeld = () => {
    if (!holds()) throw new Busy('nothing is signed here: primary.internal, process 7 signs; try again later');
  };
  const router = new Hono<DeskEnv>();
  router.onError((error, c) => c.text(error.message, 503));
  router.use(refuseOnStandby({ settings, signer: { assertHeld } }));
  router.all('*', (c) => c.text('done'));
  return (method: string, path: string, headers = {}) => router.request(path, { method, headers });
}

test('a standby rejects changes, answers reads, and names no machine to callers', async () => {
  const ask = server({ holds: () => false });
  for (const path of ['/api/v1/preview', '/tide-table/api/v1/preview', '/mcp', '/v1/bq/query'])
    assert.equal((await ask('POST', path)).status, 200, path);
  assert.equal((await ask('GET', '/tide-table/api/v1/stories')).status, 200);
  for (const [method, path] of [
    ['POST', '/api/v1/stories'],
    ['POST', '/tide-table/api/v1/stories'],
    ['DELETE', '/tide-table/api/v1/stories/x'],
    ['PUT', '/api/v1/pages/x'],
    ['POST', '/a/b/api/v1/preview'],
  ] as const) {
    const answer = await ask(method, path, { authorization: 'Bearer none' });
    assert.equal(answer.status, 503, path);
    assert.equal(
      await answer.text(),
      'this server stands by for another one, and changes nothing; try again later',
      path,
    );
  }
});

test('a change during which the lease was lost is not confirmed', async () => {
  let asked = 0;
  const ask = server({ holds: () => asked++ === 0 });
  assert.equal((await ask('POST', '/api/v1/stories')).status, 503);
  assert.equal(asked, 2);
});

test('a standby takes no payment, not for a read either', async () => {
  const settings = readSettings(paidEnv('http://127.0.0.1:1', null));
  const { headers } = await payment(privateKeyToAccount(`0x${'12'.repeat(32)}`), LOOKUP_UNITS);
  const asked: string[] = [];
  const lane = paidLane({
    refusals: { check: async () => {}, note: async () => {} },
    checkout: {
      sell: async () => {
        asked.push('the facilitator');
        return { outcome: 'failed' };
      },
    } as unknown as Checkout,
    settings,
    logger: pino({ level: 'silent' }),
    signer: {
      state: () => null,
      announce: async () => false,
      assertHeld() {
        throw new Busy('nothing is signed here: primary.internal, process 7 signs; try again later');
      },
    },
  });
  const router = new Hono<RecordsEnv>();
  router.onError((error, c) => c.text(error.message, 503));
  router.use(lane);
  const answer = await router.request(LOOKUP, { headers: headers as Record<string, string> });
  assert.equal(answer.status, 503);
  assert.match(
    await answer.text(),
    /^this server stands by for another one and does not accept payments; nothing was charged/,
  );
  assert.deepEqual(asked, []);
});
