import type { Context, MiddlewareHandler } from 'hono';
import type { Settings } from '../../../src/env.ts';
import type { Offer } from '../../../src/meter/offer.ts';
import { priceInWords, requiredV2, requirementsV1 } from '../../../src/meter/offer.ts';
import { priceOf } from '../../../src/meter/prices.ts';
import type { RecordsEnv } from '../../env.ts';
import { errorAnswer } from '../../middleware/fault.ts';
import { docsUrl, signInUrl } from './addresses.ts';

/** Longest query that an offer repeats: it goes into a header, and clients read 16 kB of those. */
const QUERY_MAX = 1_000;

/** What a payer is told besides the offer. */
export interface Told {
  message: string;
  /** A word that stays the same, for programs. */
  reason?: string;
}

/** Answers with the price of what was asked for: a read without a key and without a payment. */
export function menuLane(settings: Settings): MiddlewareHandler<RecordsEnv> {
  return async (c) => menuAnswer(c, settings);
}

/**
 * 402 with the offer in both versions of x402: the body is version 1's, and
 * `PAYMENT-REQUIRED` is version 2's. Without an offer, `accepts` is empty and
 * the reason stands beside it.
 */
export function menuAnswer(c: Context, settings: Settings, told?: Told): Response {
  return menuFor(c, settings, offerFor(settings, c.req.url), told);
}

/** The menu of one offer, or of none. */
export function menuFor(c: Context, settings: Settings, offer: Offer | null, told?: Told): Response {
  const { body, headers } = menuOf(settings, offer, told);
  return errorAnswer(c, 402, body, headers);
}

/** The menu's body and headers, for an offer or for none. */
function menuOf(settings: Settings, offer: Offer | null, told: Told = tellOf(offer, settings)) {
  const body = {
    x402Version: 1,
    error: 'payment_required',
    message: told.message,
    ...(told.reason === undefined ? {} : { reason: told.reason }),
    accepts: offer === null ? [] : [requirementsV1(offer)],
    sign_in_url: signInUrl(settings),
    docs: docsUrl(settings),
  };
  const headers: Record<string, string> = {};
  if (offer !== null) headers['PAYMENT-REQUIRED'] = base64(requiredV2(offer, told.message));
  return { body, headers };
}

/** What the answer at an address costs; null while the paid lane is closed. */
export function offerFor({ x402, dataOrigin }: Settings, url: string): Offer | null {
  if (x402 === null) return null;
  const { pathname, search } = new URL(url);
  const { pattern, units } = priceOf(x402.prices, pathname);
  const { network, asset, payTo } = x402;
  return {
    network,
    asset,
    payTo,
    units,
    resource: `${dataOrigin}${pathname}${search.length > QUERY_MAX ? '' : search}`,
    description: `One answer of ${pattern === '*' ? pathname.slice(0, 200) : pattern}`,
    mimeType: pathname === '/v1/stream' ? 'text/event-stream' : 'application/json',
  };
}

/** JSON in base64, as x402's headers carry it. */
export function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

function tellOf(offer: Offer | null, settings: Settings): Told {
  const key = `send a key of an account as X-Service-Key, made at ${signInUrl(settings)}`;
  if (offer === null) {
    return {
      reason: 'payments_closed',
      message: `this read takes a key: ${key}. Payments by the call are not taken here`,
    };
  }
  return {
    message: `this read costs ${priceInWords(offer)}: pay what accepts asks for and send it as X-PAYMENT (x402), or ${key}`,
  };
}
