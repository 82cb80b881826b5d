import type { Settings } from '../../../src/env.ts';
import type { Offer } from '../../../src/meter/offer.ts';
import { priceInWords, requiredV2 } from '../../../src/meter/offer.ts';
import { setHeader } from '../../responses/headers.ts';
import type { RecordsContext } from '../context.ts';
import { base64, offerFor } from './menu.ts';

const HOW =
  'Open url with any x402 client: pay=1 is answered 402 with the menu, and a payment for it with the full record, also while lookups without a key are throttled or closed. The header Prefer: payment asks the same of this address.';

/** What one full answer costs, beside an answer that is less (protocol 9.3). */
interface PaymentOffer {
  /** In words, such as `0.001 USDC`. */
  price: string;
  /** The price in atomic units of the token. */
  units: string;
  /** The token's contract. */
  asset: string;
  /** As x402 version 1 calls it. */
  network: string;
  /** The address that is answered with the menu. */
  url: string;
  how: string;
}

interface Offered {
  offer?: PaymentOffer;
}

/**
 * What the full answer to a request costs, for an answer that is less. Sets `PAYMENT-REQUIRED` (x402 version 2), so
 * that a client may pay for this very address. Empty while the paid lane is closed.
 */
export function offerPayment(c: RecordsContext, settings: Settings): Offered {
  const offer = offerFor(settings, c.req.url);
  if (offer === null) return {};
  setHeader(c, 'PAYMENT-REQUIRED', base64(requiredV2(offer, `the full answer costs ${priceInWords(offer)}`)));
  return offered(offer);
}

/** What the lookup at a path costs, for an answer that is the same for everyone. */
export function offerOfLookup(settings: Settings, path: string): Offered {
  const offer = offerFor(settings, settings.dataOrigin + path);
  return offer === null ? {} : offered(offer);
}

function offered(offer: Offer): Offered {
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
