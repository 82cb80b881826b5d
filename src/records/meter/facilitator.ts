import * as z from 'zod';
import { textOf } from './chain-node.ts';
import { type Offer, requirementsV1, requirementsV2 } from './offer.ts';
import { type Payment, reasonOf } from './payment.ts';
import type { Facilitator } from './purchase.ts';

/** Timeouts for a facilitator to verify a payment, and to settle it, in ms. */
const VERIFY_WAIT = 8_000;
const SETTLE_WAIT = 20_000;
/** Maximum size of a response, in bytes. */
const ANSWER_MAX = 65_536;

const Verified = z.object({ isValid: z.boolean(), invalidReason: z.string().nullish() });
const Settled = z.object({
  success: z.boolean(),
  errorReason: z.string().nullish(),
  transaction: z.string().nullish(),
});
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/;

/**
 * An HTTP client of a facilitator. Forwards a payment in the x402 version in which it came, rebuilt from its parsed
 * form. Replaces the client of @x402/core, which follows redirects and does not limit the size of responses.
 */
export function facilitatorClient(
  url: string,
  { verifyWait = VERIFY_WAIT, settleWait = SETTLE_WAIT }: { verifyWait?: number; settleWait?: number } = {},
): Facilitator {
  const base = url.replace(/\/+$/, '');
  return {
    async verify(payment, offer) {
      const answer = await ask(`${base}/verify`, wire(payment, offer), verifyWait);
      const read = Verified.safeParse(answer);
      if (!read.success) return 'down';
      if (read.data.isValid) return 'valid';
      const code = read.data.invalidReason ?? '';
      if (code.startsWith('unexpected_')) return 'down';
      return { refused: reasonOf(code) ?? 'refused' };
    },
    async settle(payment, offer) {
      const answer = await ask(`${base}/settle`, wire(payment, offer), settleWait);
      const read = Settled.safeParse(answer);
      if (!read.success) return 'unknown';
      const { success, errorReason, transaction } = read.data;
      if (success) return { settled: transaction != null && TRANSACTION.test(transaction) ? transaction : null };
      // An unknown code may belong to a pending transaction.
      const reason = reasonOf(errorReason ?? '');
      return reason === null ? 'unknown' : { refused: reason };
    },
  };
}

/** The request body, the same for verify and settle. */
function wire({ version, transfer }: Payment, offer: Offer) {
  const paymentRequirements = version === 1 ? requirementsV1(offer) : requirementsV2(offer);
  const { network, scheme } = paymentRequirements;
  const paymentPayload =
    version === 1
      ? { x402Version: 1, scheme, network, payload: transfer }
      : { x402Version: 2, accepted: paymentRequirements, payload: transfer };
  return { x402Version: version, paymentPayload, paymentRequirements };
}

/** Returns a facilitator's response as JSON; null without a valid one in time. */
async function ask(url: string, body: unknown, wait: number): Promise<unknown> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(wait),
    });
    // Some facilitators reject with 400. The response of a failing server is ignored.
    if (response.status >= 500) {
      await response.body?.cancel();
      return null;
    }
    return JSON.parse(await textOf(response, ANSWER_MAX));
  } catch {
    return null;
  }
}
