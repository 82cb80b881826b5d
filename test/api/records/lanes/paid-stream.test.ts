import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WITHOUT_CHAIN } from '../../../support/chain.ts';
import { listenTo } from '../../../support/events.ts';
import { ask } from '../../../support/http.ts';
import { decoded, HOST, PAYEE, paidStand, payment } from '../../../support/paid-fixture.ts';
import { probe } from '../../../support/probes.ts';

const STREAM = '/v1/stream?since_seq=0';
const STREAM_UNITS = 20_000;

test('a stream is paid before its first byte, once per hour', { skip: WITHOUT_CHAIN }, async (t) => {
  const { url, chain, facilitator, enter, clock } = await paidStand(t);
  const payer = await chain.payer();
  const { headers } = await payment(payer, STREAM_UNITS);

  facilitator.treat(payer, { settle: 'refuses' });
  assert.equal((await ask(url, STREAM, headers)).status, 402);
  assert.equal(await chain.balance(PAYEE), 0);

  facilitator.treat(payer, {});
  const first = await listenTo(url, STREAM, headers);
  assert.equal(first.status, 200);
  assert.equal(decoded(first.headers['x-payment-response']).success, true);
  assert.equal(await chain.balance(PAYEE), STREAM_UNITS);
  enter(probe(HOST, clock.now + 1_000, { A: ['192.0.2.7'], NS: ['ns1.example.net'] }));
  const [event] = await first.atLeast(1);
  assert.equal(JSON.parse(event?.data ?? '{}').domain, HOST);
  first.hangUp();
  const ahead = await payment(payer, STREAM_UNITS);
  const refused = await ask(url, '/v1/stream', { ...ahead.headers, 'Last-Event-ID': '7' });
  assert.deepEqual([refused.status, JSON.parse(refused.text).newest], [409, 1]);
  assert.equal(await chain.balance(PAYEE), STREAM_UNITS, 'a stream that would say nothing is not sold');

  // A connection that was lost is opened again with the same payment.
  clock.now += 3_500_000;
  const second = await listenTo(url, STREAM, headers);
  assert.equal(second.status, 200);
  assert.deepEqual(await second.atLeast(1), [event]);
  const third = await listenTo(url, STREAM, headers);
  await second.ended;
  assert.deepEqual(await third.atLeast(1), [event], 'a payment has one stream open, the newest');
  third.hangUp();
  assert.equal((await ask(url, '/v1/stream', headers)).status, 409);

  clock.now += 200_000;
  const { status, text } = await ask(url, STREAM, headers);
  assert.deepEqual([status, JSON.parse(text).reason], [409, 'answer_gone']);
  assert.equal(await chain.balance(PAYEE), STREAM_UNITS);
});
