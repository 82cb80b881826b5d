import type { BlockList } from 'node:net';
import type { Context } from 'hono';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { present } from '../../../src/proof/narrow.ts';
import { type CheckoutOutcome, REPEATS } from '../../../src/records/meter/checkout.ts';
import type { Offer } from '../../../src/records/meter/offer.ts';
import { decodePayment, PAYMENT_HEADERS, type Payment, REASONS } from '../../../src/records/meter/payment.ts';
import type { Settings } from '../../../src/server/env.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { REFUSED_PAYMENTS as LIMIT } from '../../../src/shared/limits.ts';
import { callerOf } from '../../middleware/caller.ts';
import { errorAnswer } from '../../middleware/fault.ts';
import { LOOPBACK } from '../../middleware/throttle.ts';
import { setHeader } from '../../responses/headers.ts';
import type { RecordsContext } from '../route.ts';
import { operatorOf } from './addresses.ts';
import { base64, menuFor } from './menu.ts';

/** The payment of a request. Throws `invalid_request`. */
export function paymentOf(c: Context): Payment {
  const sent = ([2, 1] as const).flatMap((version) => {
    const text = c.req.header(PAYMENT_HEADERS[version]);
    return text === undefined ? [] : [{ version, text }];
  });
  const [first = present(sent[0]), second] = sent;
  const field = PAYMENT_HEADERS[first.version];
  if (second !== undefined) {
    throw new Fault('invalid_request', `${field} and X-PAYMENT: send one of the two; nothing was charged`, { field });
  }
  if (c.req.method === 'HEAD') {
    throw new Fault('invalid_request', `${field}: HEAD cannot be paid for; use GET. Nothing was charged`, { field });
  }
  return decodePayment(first.text, first.version);
}

interface Sale {
  payment: Payment;
  offer: Offer;
  settings: Settings;
}

export function answerOf(
  c: Context,
  sold: Exclude<CheckoutOutcome, { outcome: 'failed' }>,
  { payment, offer, settings }: Sale,
) {
  switch (sold.outcome) {
    case 'served': {
      const headers = new Headers(sold.bought.headers);
      headers.set('Cache-Control', 'private, no-store');
      headers.set(...receiptHeader(payment, offer, { success: true, transaction: sold.transaction ?? '' }));
      return new Response(sold.bought.body as Uint8Array<ArrayBuffer>, { status: sold.bought.status, headers });
    }
    case 'refused': {
      const { reason } = sold;
      const message = `the payment was rejected: ${REASONS[reason]}. Nothing was charged; sign a new one for the offer in accepts`;
      const menu = menuFor(c, settings, offer, { reason, message });
      menu.headers.set(...receiptHeader(payment, offer, { success: false, errorReason: reason, transaction: '' }));
      return menu;
    }
    case 'conflict':
      return errorAnswer(c, 409, { error: 'conflict', reason: sold.why, message: CONFLICTS[sold.why] }, {});
    case 'later': {
      const { seconds, message } = later(settings)[sold.why];
      return errorAnswer(
        c,
        503,
        { error: 'unavailable', reason: sold.why, message },
        { 'Retry-After': String(seconds) },
      );
    }
  }
}

const CONFLICTS = {
  other_request: 'this payment is for another request: a payment buys one answer. Sign a new one for this',
  other_payment:
    'a payment of this payer with this nonce was taken, and this is not that one: what it authorizes or its signature differs. Send the payment as it was signed; nothing was charged for this',
  repeated: `this payment was answered, and its answer was repeated ${REPEATS} times, which is the maximum. Sign a new one`,
  answer_gone:
    'this payment was answered, and its answer is no longer kept, after 24 hours, or one hour for a stream. Sign a new one',
};

const later = (settings: Settings) => ({
  busy: { seconds: 1, message: 'another request with this payment is under way; send the same payment again' },
  down: {
    seconds: 5,
    message: 'payments cannot be checked right now, and nothing was charged; send the same payment again',
  },
  unknown: {
    seconds: 5,
    message:
      'it is not known yet whether the payment went through; send the same request with the same payment again: it is not charged twice, and the answer comes once it was',
  },
  unproven: {
    seconds: 3_600,
    message: `the authorization is used, and this service cannot see on the chain whether that paid for this: no X402_RPC_URL is set. Ask ${operatorOf(settings)}; once it is set, the same payment again gets the answer if the money came`,
  },
});

/** The header with the outcome of a payment, in the x402 version of that payment. */
export function receiptHeader(
  { version, transfer }: Payment,
  { network }: Offer,
  settlement: { success: boolean; transaction: string; errorReason?: string },
): [string, string] {
  const payer = transfer.authorization.from;
  return version === 1
    ? ['X-PAYMENT-RESPONSE', base64({ ...settlement, network: network.name, payer })]
    : ['PAYMENT-RESPONSE', base64({ ...settlement, network: network.caip2, payer })];
}

export type Refusals = ReturnType<typeof countRefusals>;

/** Counts the rejected payments of each address. Successful payers are never counted. */
export function countRefusals(proxies: BlockList) {
  const limiter = new RateLimiterMemory(LIMIT);
  return {
    /** Throws `rate_limited` after too many. */
    async check(c: RecordsContext): Promise<void> {
      const { consumedPoints, msBeforeNext } = (await limiter.get(callerOf(c.env, proxies))) ?? {
        consumedPoints: 0,
        msBeforeNext: 0,
      };
      if (consumedPoints < LIMIT.points) return;
      const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
      setHeader(c, 'Retry-After', String(seconds));
      const message = `${LIMIT.points} payments from your address were rejected within ${LIMIT.duration} seconds; nothing was charged. Try again in ${seconds} seconds`;
      throw new Fault('rate_limited', message);
    },
    async note(c: RecordsContext): Promise<void> {
      const caller = callerOf(c.env, proxies);
      if (!LOOPBACK.test(caller)) await limiter.penalty(caller);
    },
  };
}
