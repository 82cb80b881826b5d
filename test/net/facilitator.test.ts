import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { facilitatorClient } from '../../src/records/meter/facilitator.ts';
import { decodePayment } from '../../src/records/meter/payment.ts';
import { loopback } from '../support/loopback.ts';
import { OFFER, samplePayment } from '../support/sample-payment.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

const payment = decodePayment(samplePayment(1), 1);

/** A client of a server that answers so. */
async function clientOf(t: TestContext, answer: Answer, wait = 1_000) {
  const url = await loopback(
    t,
    createServer((request, response) => void answer(request, response)),
  );
  return facilitatorClient(`${url}/x402/`, { verifyWait: wait, settleWait: wait });
}

const json =
  (status: number, body: unknown): Answer =>
  (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  };

const TRANSACTION = `0x${'0a'.repeat(32)}`;

const WORDS: [name: string, answer: Answer, verdict: unknown, settlement: unknown][] = [
  [
    'agreement',
    json(200, { isValid: true, success: true, transaction: TRANSACTION }),
    'valid',
    { settled: TRANSACTION },
  ],
  [
    'a transaction that is none',
    json(200, { isValid: true, success: true, transaction: '<b>' }),
    'valid',
    { settled: null },
  ],
  [
    'a reason of x402',
    json(200, {
      isValid: false,
      invalidReason: 'insufficient_funds',
      success: false,
      errorReason: 'insufficient_funds',
    }),
    { refused: 'insufficient_funds' },
    { refused: 'insufficient_funds' },
  ],
  [
    'a reason of its own',
    json(400, { isValid: false, invalidReason: 'because', success: false, errorReason: 'because' }),
    { refused: 'refused' },
    'unknown',
  ],
  [
    'something that went wrong there',
    json(200, {
      isValid: false,
      invalidReason: 'unexpected_verify_error',
      success: false,
      errorReason: 'unexpected_settle_error',
    }),
    'down',
    'unknown',
  ],
  ['words for a boolean', json(200, { isValid: 'true', success: 'true' }), 'down', 'unknown'],
  ['a failing server', json(503, { isValid: true, success: true, transaction: TRANSACTION }), 'down', 'unknown'],
  ['no JSON', (_, response) => response.end('<html>'), 'down', 'unknown'],
  ['nothing', (_, response) => response.end(), 'down', 'unknown'],
  ['a list', json(200, [{ isValid: true, success: true }]), 'down', 'unknown'],
  ['a hang-up', (_, response) => response.destroy(), 'down', 'unknown'],
  [
    'too much',
    json(200, { isValid: true, success: true, transaction: TRANSACTION, more: 'x'.repeat(70_000) }),
    'down',
    'unknown',
  ],
  [
    'a way elsewhere',
    (request, response) => {
      if (request.url?.startsWith('/x402/')) response.writeHead(307, { Location: '/elsewhere' }).end();
      else json(200, { isValid: true, success: true, transaction: TRANSACTION })(request, response);
    },
    'down',
    'unknown',
  ],
];

for (const [name, answer, verdict, settlement] of WORDS) {
  test(`interpretation of a facilitator’s response: ${name}`, async (t) => {
    const client = await clientOf(t, answer);
    assert.deepEqual(await client.verify(payment, OFFER), verdict);
    assert.deepEqual(await client.settle(payment, OFFER), settlement);
  });
}

test('a facilitator that hangs or never finishes is abandoned', async (t) => {
  for (const answer of [() => {}, (_: unknown, response: ServerResponse) => response.write('{"isValid":')]) {
    const client = await clientOf(t, answer, 50);
    assert.equal(await client.verify(payment, OFFER), 'down');
    assert.equal(await client.settle(payment, OFFER), 'unknown');
  }
  const nobody = facilitatorClient('http://127.0.0.1:1');
  assert.equal(await nobody.verify(payment, OFFER), 'down');
});

for (const version of [1, 2] as const) {
  test(`a payment continues in its version, re-encoded from what was parsed (${version})`, async (t) => {
    const bodies: Record<string, never>[] = [];
    const client = await clientOf(t, async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      bodies.push(JSON.parse(text));
      response.end('{"isValid":true,"success":true,"transaction":""}');
    });
    const smuggled = decodePayment(samplePayment(version, { extra: 'more', payTo: '0xevil' }), version);
    await client.verify(smuggled, OFFER);
    await client.settle(smuggled, OFFER);
    const [first, second] = bodies;
    assert.deepEqual(first, second);
    assert.equal(JSON.stringify(first).includes('evil'), false);
    const { x402Version, paymentPayload, paymentRequirements } = first as Record<string, Record<string, unknown>>;
    assert.equal(x402Version, version);
    assert.equal(paymentPayload?.x402Version, version);
    assert.equal(paymentRequirements?.network, version === 1 ? 'base-sepolia' : 'eip155:84532');
    assert.equal(paymentRequirements?.[version === 1 ? 'maxAmountRequired' : 'amount'], '1000');
    if (version === 2) assert.deepEqual(paymentPayload?.accepted, paymentRequirements);
  });
}
