import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefersPayment } from '../../api/middleware/lane.ts';

/** RFC 7240, section 2: a list; names in any case; no value and an empty one mean the same; others are ignored. */
test('the preference for payment is found wherever the header may have it', () => {
  const asks = [
    'payment',
    'Payment',
    'respond-async, payment',
    'wait=10; x="a, b",payment; hint=1',
    'payment=""',
    'payment = ""',
    'foo="\\", x", payment',
  ];
  for (const header of asks) assert.equal(prefersPayment(header), true, header);
  const others = [
    undefined,
    '',
    ',',
    'payments',
    'no-payment',
    'wait=payment',
    'payment=none',
    'payment="x"',
    'foo; payment',
    'foo="bar, payment"',
    'foo="bar, payment',
  ];
  for (const header of others) assert.equal(prefersPayment(header), false, String(header));
});
