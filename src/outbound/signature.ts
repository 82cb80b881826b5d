import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/**
 * The headers that authenticate a delivery (protocol 10): the three of Standard Webhooks, and `X-NRF-Signature: t=<unix
 * seconds>,v1=<hex HMAC-SHA-256 of "t.body">`. Both use the same key: the bytes that the secret's base64 encodes. `at`
 * is the time of the attempt, in ms.
 */
export function signatureHeaders(secret: string, id: string, body: string, at: number): Record<string, string> {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const seconds = Math.floor(at / 1000);
  const mac = (text: string) => createHmac('sha256', key).update(text);
  return {
    'X-NRF-Signature': `t=${seconds},v1=${mac(`${seconds}.${body}`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${mac(`${id}.${seconds}.${body}`).digest('base64')}`,
  };
}
