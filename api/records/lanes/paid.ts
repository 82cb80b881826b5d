import { createHash } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import type { Settings } from '../../../src/env.ts';
import { Fault } from '../../../src/fault.ts';
import type { Offer } from '../../../src/meter/offer.ts';
import type { Payment, X402Version } from '../../../src/meter/payment.ts';
import { decodePayment, PAYMENT_HEADERS } from '../../../src/meter/payment.ts';
import type { Bought } from '../../../src/meter/purchase.ts';
import { REASONS } from '../../../src/meter/reasons.ts';
import type { Outcome, Till } from '../../../src/meter/till.ts';
import type { RecordsEnv } from '../../env.ts';
import { errorAnswer } from '../../middleware/fault.ts';
import { base64, menuAnswer, offerFor } from './menu.ts';
import type { Refusals } from './refusals.ts';

export interface PaidTools {
  refusals: Refusals;
  /** Null while the lane is closed. */
  till: Till | null;
  settings: Settings;
  logger: Logger;
}

/** What of a bought answer's headers is kept beside its bytes. */
const KEPT = ['content-type', 'content-disposition', 'link'];

/** Serves a call that carries a payment: once the money has moved, and only then. */
export function paidLane({ refusals, till, settings, logger }: PaidTools) {
  const streams = new Map<string, { destroy(): unknown }>();
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const offer = offerFor(settings, c.req.url);
    if (till === null || offer === null) {
      c.res = menuAnswer(c, settings);
      return;
    }
    const payment = paymentOf(c);
    await refusals.check(c);
    const run = async () => {
      await next();
      return boughtFrom(c.res);
    };
    const sold = await till.take({ payment, offer, request: requestOf(c), run });
    if (sold.outcome !== 'served') await refusals.note(c);
    if (sold.outcome === 'failed') return;
    if (sold.outcome === 'later') logger.warn({ request_id: c.get('requestId'), why: sold.why }, 'a payment waits');
    if (sold.outcome === 'served' && sold.bought.body === null) {
      onlyStream(streams, payment.transfer.authorization.nonce, c.env.outgoing);
      c.header(...receiptHeader(payment, offer, { success: true, transaction: sold.transaction ?? '' }));
      return;
    }
    const answer = answerOf(c, sold, { payment, offer, settings });
    // What the door said is held back; its headers go with it.
    if (c.finalized) {
      if (!c.res.bodyUsed) await c.res.body?.cancel();
      c.res = undefined;
    }
    c.res = answer;
  });
}

/** The one payment of a request. Throws `invalid_request`. */
function paymentOf(c: Context): Payment {
  const sent = ([2, 1] as const).flatMap((version) => {
    const text = c.req.header(PAYMENT_HEADERS[version]);
    return text === undefined ? [] : [{ version, text }];
  });
  const [first, second] = sent as [{ version: X402Version; text: string }, { version: X402Version; text: string }?];
  const field = PAYMENT_HEADERS[first.version];
  if (second !== undefined) {
    throw new Fault('invalid_request', `${field} and X-PAYMENT: send one of the two; nothing was charged`, { field });
  }
  if (c.req.method === 'HEAD') {
    throw new Fault('invalid_request', `${field}: a HEAD is not for sale; ask by GET. Nothing was charged`, { field });
  }
  return decodePayment(first.text, first.version);
}

/** What is bought: the method and the address with its query. */
function requestOf(c: Context): string {
  const { pathname, search } = new URL(c.req.url);
  return createHash('sha256').update(`${c.req.method}\n${pathname}${search}`).digest('hex');
}

/** A door's answer as it is sold; null when it is none worth paying for, such as a refusal or "not modified". */
async function boughtFrom(response: Response): Promise<Bought | null> {
  if (!response.ok) return null;
  const headers = KEPT.flatMap((name): [string, string][] => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const isStream = /^text\/event-stream\b/.test(response.headers.get('content-type') ?? '');
  // A stream is held back unread until the money is there.
  const body = isStream ? null : new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers, body };
}

interface Sale {
  payment: Payment;
  offer: Offer;
  settings: Settings;
}

function answerOf(c: Context, sold: Exclude<Outcome, { outcome: 'failed' }>, { payment, offer, settings }: Sale) {
  switch (sold.outcome) {
    case 'served': {
      const headers = new Headers(sold.bought.headers);
      headers.set('Cache-Control', 'private, no-store');
      headers.set(...receiptHeader(payment, offer, { success: true, transaction: sold.transaction ?? '' }));
      return new Response(sold.bought.body as Uint8Array<ArrayBuffer>, { status: sold.bought.status, headers });
    }
    case 'refused': {
      const { reason } = sold;
      const message = `the payment was not taken: ${REASONS[reason]}. Nothing was charged; sign a new one for what accepts asks`;
      const menu = menuAnswer(c, settings, { reason, message });
      menu.headers.set(...receiptHeader(payment, offer, { success: false, errorReason: reason, transaction: '' }));
      return menu;
    }
    case 'conflict':
      return errorAnswer(c, 409, { error: 'conflict', reason: sold.why, message: CONFLICTS[sold.why] }, {});
    case 'later': {
      const { seconds, message } = LATER[sold.why];
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
  answer_gone:
    'this payment was answered, and its answer is no longer kept: that is 24 hours, or one for a stream. Sign a new one',
};

const LATER = {
  busy: { seconds: 1, message: 'another request with this payment is under way; send the same payment again' },
  down: {
    seconds: 5,
    message: 'payments cannot be checked just now, and nothing was charged; send the same payment again',
  },
  unknown: {
    seconds: 5,
    message:
      'it is not known yet whether the payment went through; send the same request with the same payment again: it is not charged twice, and the answer comes once it was',
  },
};

/** The header that tells what became of a payment, in its own version. */
function receiptHeader(
  { version, transfer }: Payment,
  { network }: Offer,
  told: { success: boolean; transaction: string; errorReason?: string },
): [string, string] {
  const payer = transfer.authorization.from;
  return version === 1
    ? ['X-PAYMENT-RESPONSE', base64({ ...told, network: network.name, payer })]
    : ['PAYMENT-RESPONSE', base64({ ...told, network: network.caip2, payer })];
}

/** A payment has one stream open: the connection that comes ends the one before. */
function onlyStream(streams: Map<string, { destroy(): unknown }>, nonce: string, outgoing: HttpBindings['outgoing']) {
  streams.get(nonce)?.destroy();
  if (outgoing.destroyed) return;
  streams.set(nonce, outgoing);
  outgoing.once('close', () => {
    if (streams.get(nonce) === outgoing) streams.delete(nonce);
  });
}
