import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from '../../src/shared/outbound/dispatcher.ts';
import { newWebhookSecret } from '../../src/shared/outbound/webhook-url.ts';

const BODY = '{"type":"story.aired","data":{"headline":"Ämter — 潮"}}';
const ID = '01kq3vc2m6w2d5c8z4n0r9t1b6';
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** As docs/readers.md has it: whether a delivery is the paper's, and at most five minutes old. */
function isGenuine(header: string, body: string, secret: string): boolean {
  const { t, v1 } = Object.fromEntries(header.split(',').map((part) => part.split('=', 2))) as Record<string, string>;
  if (t === undefined || v1 === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${t}.${body}`).digest();
  const given = Buffer.from(v1, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

test('the Standard Webhooks library accepts what is signed and rejects any change', () => {
  const headers = signatureHeaders(secret, ID, BODY, Date.now());
  assert.deepEqual(new Webhook(secret).verify(BODY, headers), JSON.parse(BODY));
  assert.throws(() => new Webhook(secret).verify(`${BODY} `, headers));
  assert.throws(() => new Webhook(secret).verify(BODY, { ...headers, 'webhook-id': 'other' }));
  const other = newWebhookSecret();
  assert.throws(() => new Webhook(other).verify(BODY, headers));
  const old = signatureHeaders(secret, ID, BODY, Date.now() - 600_000);
  assert.throws(() => new Webhook(secret).verify(BODY, old));
});

test('X-NRF-Signature uses the bytes that the secret encodes', () => {
  const sign = (at: number) => signatureHeaders(secret, ID, BODY, at)['X-NRF-Signature'] ?? '';
  assert.match(sign(Date.now()), /^t=\d{10},v1=[0-9a-f]{64}$/);
  assert.ok(isGenuine(sign(Date.now()), BODY, secret));
  assert.ok(!isGenuine(sign(Date.now()), `${BODY} `, secret));
  assert.ok(!isGenuine(sign(Date.now() - 600_000), BODY, secret));
  assert.ok(!isGenuine(sign(Date.now()), BODY, newWebhookSecret()));
  // From another implementation: printf '1700000000.{}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…07
  const known = signatureHeaders(secret, ID, '{}', 1_700_000_000_999)['X-NRF-Signature'];
  assert.equal(known, 't=1700000000,v1=7b24748c9a3d39ed07b08d270a9c3b5ae3b420a0cba2eb3337b0fd8b739e40cd');
});
