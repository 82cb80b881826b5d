import { createHash } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import type { Checkout } from '../../../src/records/meter/checkout.ts';
import { type Bought, paymentHash } from '../../../src/records/meter/purchase.ts';
import type { Settings } from '../../../src/server/env.ts';
import type { SignerRight } from '../../../src/signing/signer.ts';
import type { RecordsEnv } from '../../env.ts';
import { assertSigns } from '../../middleware/standby.ts';
import { setHeader } from '../../responses/headers.ts';
import { menuAnswer, offerFor } from './menu.ts';
import { answerOf, paymentOf, type Refusals, receiptHeader } from './payment.ts';

interface PaidTools {
  refusals: Refusals;
  checkout: Checkout | null;
  settings: Settings;
  logger: Logger;
  signer: SignerRight;
}

const STANDS_BY =
  'this server stands by for another one and does not accept payments; nothing was charged, send the same payment again later';

/** Headers that are stored with a sold response. */
const STORED_HEADERS = ['content-type', 'content-disposition', 'link'];

/** Serves a call with a payment, but only after the money has moved (protocol 9.5). */
export function paidLane({ refusals, checkout, settings, logger, signer }: PaidTools) {
  const streams = new Map<string, { destroy(): unknown }>();
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const offer = offerFor(settings, c.req.url);
    if (checkout === null || offer === null) {
      c.res = menuAnswer(c, settings);
      return;
    }
    const payment = paymentOf(c);
    // The payment would be recorded only in this copy of the database, and the other server would accept it again.
    assertSigns({ signer }, STANDS_BY);
    await refusals.check(c);
    const run = async () => {
      await next();
      return boughtFrom(c.res);
    };
    const sold = await checkout.sell({ payment, offer, request: requestOf(c), run });
    if (sold.outcome !== 'served') await refusals.note(c);
    if (sold.outcome === 'failed') return;
    if (sold.outcome === 'later') logger.warn({ request_id: c.get('requestId'), why: sold.why }, 'a payment waits');
    if (sold.outcome === 'served' && sold.bought.body === null) {
      onlyStream(streams, paymentHash(payment), c.env.outgoing);
      setHeader(c, ...receiptHeader(payment, offer, { success: true, transaction: sold.transaction ?? '' }));
      return;
    }
    const answer = answerOf(c, sold, { payment, offer, settings });
    // The handler's response is withheld, with its headers.
    if (c.finalized) {
      if (!c.res.bodyUsed) await c.res.body?.cancel();
      c.res = undefined;
    }
    c.res = answer;
  });
}

function requestOf(c: Context): string {
  const { pathname, search } = new URL(c.req.url);
  return createHash('sha256').update(`${c.req.method}\n${pathname}${search}`).digest('hex');
}

/** The response as it is sold; null for one that costs nothing, such as an error or a 304. */
async function boughtFrom(response: Response): Promise<Bought | null> {
  if (!response.ok) return null;
  const headers = STORED_HEADERS.flatMap((name): [string, string][] => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const isStream = /^text\/event-stream\b/.test(response.headers.get('content-type') ?? '');
  // A stream is withheld unread until the money has moved.
  const body = isStream ? null : new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers, body };
}

/** A payment has one open stream: a new connection closes the previous one. */
function onlyStream(streams: Map<string, { destroy(): unknown }>, hash: string, outgoing: HttpBindings['outgoing']) {
  streams.get(hash)?.destroy();
  if (outgoing.destroyed) return;
  streams.set(hash, outgoing);
  outgoing.once('close', () => {
    if (streams.get(hash) === outgoing) streams.delete(hash);
  });
}
