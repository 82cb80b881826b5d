import type { Context, MiddlewareHandler } from 'hono';
import { type Offer, priceInWords, requiredV2, requirementsV1 } from '../../../src/records/meter/offer.ts';
import { priceOf } from '../../../src/records/meter/payment-settings.ts';
import type { Settings } from '../../../src/server/env.ts';
import type { RecordsEnv } from '../../env.ts';
import { errorAnswer } from '../../middleware/fault.ts';
import { prefersPayment } from '../../middleware/lane.ts';
import { setHeader } from '../../responses/headers.ts';
import type { RecordsContext } from '../route.ts';
import { docsUrl, signInUrl } from './addresses.ts';

/** The longest query that an offer repeats: it goes into a header, and clients read at most 16 kB of headers. */
const QUERY_MAX = 1_000;

interface MenuText {
  message: string;
  reason?: string;
}

/** The lane of a read without a key or a payment: responds with its price. */
export function menuLane(settings: Settings): MiddlewareHandler<RecordsEnv> {
  return async (c) => {
    if (prefersPayment(c.req.header('prefer'))) setHeader(c, 'Preference-Applied', 'payment');
    return menuAnswer(c, settings);
  };
}

/**
 * 402 with the offer, in x402 version 1 as the body and in version 2 as `PAYMENT-REQUIRED`; `reason` says why there is
 * none.
 */
export function menuAnswer(c: Context<RecordsEnv>, settings: Settings, text?: MenuText): Response {
  return menuFor(c, settings, offerFor(settings, c.req.url), text);
}

export function menuFor(
  c: Context<RecordsEnv>,
  settings: Settings,
  offer: Offer | null,
  text = textOf(offer, settings),
): Response {
  const body = {
    x402Version: 1,
    error: 'payment_required',
    message: text.message,
    ...(text.reason === undefined ? {} : { reason: text.reason }),
    accepts: offer === null ? [] : [requirementsV1(offer)],
    ...plansIn(c),
    sign_in_url: signInUrl(settings),
    docs: docsUrl(settings),
  };
  const headers: Record<string, string> =
    offer === null ? {} : { 'PAYMENT-REQUIRED': base64(requiredV2(offer, text.message)) };
  return errorAnswer(c, 402, body, headers);
}

/** The plans on sale as a member of a 402; nothing while there are none. */
export function plansIn(c: Context<RecordsEnv>) {
  const plans = c.get('plans')();
  return plans.length === 0 ? {} : { plans };
}

/** The price of a URL; null while the paid lane is closed. */
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

/** JSON in base64, as in the headers of x402. */
export function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

function textOf(offer: Offer | null, settings: Settings): MenuText {
  const key = `send a key of an account as X-Service-Key, made at ${signInUrl(settings)}`;
  if (offer === null) {
    return {
      reason: 'payments_closed',
      message: `this read takes a key: ${key}. This service does not accept payments per call`,
    };
  }
  return {
    message: `this read costs ${priceInWords(offer)}: pay what accepts asks for and send it as X-PAYMENT (x402), or ${key}`,
  };
}

const HOW =
  'Open url with any x402 client: pay=1 is answered 402 with the menu, and a payment for it with the full record, also while lookups without a key are throttled or closed. The header Prefer: payment asks the same of this address.';

/**
 * The offer of the full answer, as a member of a partial one. Sets `PAYMENT-REQUIRED` (x402 version 2), so that a
 * client may pay for this very address. Empty while the paid lane is closed.
 */
export function offerPayment(c: RecordsContext, settings: Settings) {
  const offer = offerFor(settings, c.req.url);
  if (offer === null) return {};
  setHeader(c, 'PAYMENT-REQUIRED', base64(requiredV2(offer, `the full answer costs ${priceInWords(offer)}`)));
  return offered(offer);
}

/** The same for the lookup at a path, as a member of an answer that is the same for everyone. */
export function offerOfLookup(settings: Settings, path: string) {
  const offer = offerFor(settings, settings.dataOrigin + path);
  return offer === null ? {} : offered(offer);
}

/** The member `offer` of a partial answer: the price of the full one (protocol 9.3). */
function offered(offer: Offer) {
  const url = new URL(offer.resource);
  url.searchParams.set('pay', '1');
  const { units, asset, network } = offer;
  return {
    offer: {
      price: priceInWords(offer),
      units: String(units),
      asset: asset.address,
      network: network.name,
      url: url.href,
      how: HOW,
    },
  };
}
