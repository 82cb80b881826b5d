import { NETWORKS, type Offer, requirementsV2 } from '../../src/records/meter/offer.ts';

const network = NETWORKS[1] as (typeof NETWORKS)[number];

/** An offer for tests without a chain. */
export const OFFER: Offer = {
  network,
  asset: network.usdc,
  payTo: `0x${'a1'.repeat(20)}`,
  units: 1_000,
  resource: 'http://localhost:4322/v1/domains/example.org',
  description: 'One answer',
  mimeType: 'application/json',
};

/** The settings of a paid lane whose facilitator and node of the chain do not answer. */
export const PAID_ENV = {
  X402_FACILITATOR_URL: 'http://127.0.0.1:9',
  X402_RPC_URL: 'http://127.0.0.1:9',
  X402_PAY_TO: `0x${'a'.repeat(40)}`,
  X402_NETWORK: 'base-sepolia',
  X402_ASSET: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
};

/** The header of a payment for the offer. `more` overrides its members, `odd` those of its authorization. */
export function samplePayment(version: 1 | 2, more: Record<string, unknown> = {}, odd: object = {}): string {
  const authorization = {
    from: `0x${'b0'.repeat(20)}`,
    to: OFFER.payTo,
    value: String(OFFER.units),
    validAfter: '0',
    validBefore: '99999999999',
    nonce: `0x${'c0'.repeat(32)}`,
    ...odd,
  };
  const payload = { signature: `0x${'d0'.repeat(65)}`, authorization };
  const body =
    version === 1
      ? { x402Version: 1, scheme: 'exact', network: network.name, payload, ...more }
      : { x402Version: 2, accepted: requirementsV2(OFFER), payload, ...more };
  return Buffer.from(JSON.stringify(body)).toString('base64');
}
