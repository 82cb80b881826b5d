import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Checkout } from '../../../src/records/meter/checkout.ts';
import {
  amountFrom,
  appendCredits,
  CREDIT,
  CREDIT_KINDS,
  creditRow,
  creditsOf,
  NOTE_MAX,
  noteFrom,
} from '../../../src/records/meter/credits.ts';
import { type Offer, priceInWords } from '../../../src/records/meter/offer.ts';
import { PAYMENT_HEADERS } from '../../../src/records/meter/payment.ts';
import { paymentId } from '../../../src/records/meter/purchase.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { Settings } from '../../../src/server/env.ts';
import { Fault } from '../../../src/shared/fault.ts';

import { body, faults, IDEMPOTENCY, ok } from '../../openapi/responses.ts';
import { setHeader } from '../../responses/headers.ts';
import { reply } from '../../responses/reply.ts';
import { PRIVATE } from '../../responses/send.ts';
import { operatorOf } from '../lanes/addresses.ts';
import { menuFor, offerFor } from '../lanes/menu.ts';
import { answerOf, paymentOf, type Refusals, receiptHeader } from '../lanes/payment.ts';
import { operation } from '../route.ts';
import { changeOnce } from './account/change.ts';

const Credits = z.number().describe('In credits, with at most six decimals.');

const CreditMoved = z
  .object({
    email: z.string(),
    balance: Credits.describe('The account’s current balance.'),
    entry: z.object({
      seq: z.int().min(1),
      at: z.iso.datetime(),
      kind: z.enum(CREDIT_KINDS),
      amount: Credits,
      balance: Credits.describe('The balance after this entry; equal to the outer `balance`.'),
      day: z.iso.date().nullable(),
      note: z.string().nullable(),
    }),
  })
  .openapi('CreditMoved');

const moveSpec = {
  operationId: 'moveCredits',
  tags: ['Operator'],
  summary: 'Top up or correct an account’s credits',
  description:
    'Appends an entry to the account’s ledger. Entries never change. Credits that were drawn earlier are entered first.',
  request: {
    params: z.object({
      email: z
        .string()
        .max(400)
        .openapi({
          param: { name: 'email', in: 'path' },
          description: 'Email address of the account.',
          example: 'ada@example.org',
        }),
    }),
    headers: IDEMPOTENCY,
    body: body(
      z
        .object({
          amount: z
            .union([z.string(), z.number()])
            .describe('Credits, as a string or a number. A negative amount takes credits away.'),
          note: z.string().optional().describe(`Reason, at most ${NOTE_MAX} characters.`),
        })
        .openapi('CreditMove', { example: { amount: '25', note: 'invoice 2026-114' } }),
    ),
  },
  responses: { 201: ok(CreditMoved, 'The new entry.'), ...faults(409) },
};

export const moveCredits = (app: AppContext) =>
  operation(moveSpec, async (c) => {
    const { store, clock } = app;
    const { amount, note } = c.req.valid('json');
    const { email } = c.req.valid('param');
    const move = { amount: amountFrom(String(amount), 'amount'), note: noteFrom(note, 'note') };
    const { body: moved } = await changeOnce(app, c, 201, () => {
      const account = store.records.accounts.byEmail(email.trim().toLowerCase());
      if (account === null)
        throw new Fault('not_found', 'no account has this address; its owner creates it by signing in');
      const entry = appendCredits(store.records.credits, account.id, { ...move, at: clock.now() });
      const balance = creditsOf(store.records.credits.balance(account.id));
      return { email: account.email, balance, entry: creditRow(entry) };
    });
    return reply(moved, { status: 201 });
  });

const CREDITS_AT_ONCE = 1_000;
const RANGE = `must be a whole number from 1 to ${CREDITS_AT_ONCE}`;

const CreditsBought = z
  .object({
    credits: z.int().min(1).describe('Credits that the payment bought.'),
    balance: z.number().describe('The account’s current balance.'),
  })
  .openapi('CreditsBought');

const buySpec = {
  operationId: 'buyCredits',
  tags: ['Account'],
  summary: 'Buy credits for the key’s account with a payment (x402)',
  description:
    'Takes a key of the account and a payment for the offer in the 402 of the same request. Sending the same payment again buys nothing more. Credits are sold only where the service itself sees the transfer on the chain; without a node of the chain, the 402 has an empty `accepts` and `reason: "node_missing"`.',
  request: {
    body: body(
      z
        .object({
          credits: z.int(RANGE).min(1, RANGE).max(CREDITS_AT_ONCE, RANGE).describe('How many credits.'),
        })
        .openapi('CreditPurchase', { example: { credits: 20 } }),
    ),
  },
  responses: { 200: ok(CreditsBought, 'The credits were added to the account.'), ...faults(402, 409) },
};

interface Sales {
  checkout: Checkout | null;
  refusals: Refusals;
}

/** Sells credits. They are paid for like a read, and appended to the ledger once, however often the payment is sent. */
export const buyCredits = ({ settings, store, clock }: AppContext, { checkout, refusals }: Sales) =>
  operation(buySpec, async (c) => {
    const { credits } = c.req.valid('json');
    const account = c.get('key')?.account ?? '';
    if (settings.x402 !== null && settings.x402.rpc === null) return menuFor(c, settings, null, nodeMissing(settings));
    const offer = offerOf(offerFor(settings, c.req.url), credits);
    const isPaid = Object.values(PAYMENT_HEADERS).some((name) => c.req.header(name) !== undefined);
    if (checkout === null || offer === null || !isPaid) {
      const price =
        offer &&
        `${offer.description} ${credits === 1 ? 'costs' : 'cost'} ${priceInWords(offer)}: pay what accepts asks for, and send the payment as X-PAYMENT (x402) together with the key`;
      return menuFor(c, settings, offer, price === null ? closed(settings) : { message: price });
    }
    if (store.records.accounts.find(account) === null) {
      throw new Fault('key_invalid', 'the account of this key was deleted');
    }
    const payment = paymentOf(c);
    await refusals.check(c);
    const request = createHash('sha256').update(`POST /v1/credits\n${account}\n${credits}`).digest('hex');
    const bought = { status: 200, headers: [], body: Buffer.from(String(credits)) };
    const sold = await checkout.sell({ payment, offer, request, run: async () => bought, mustConfirm: true });
    if (sold.outcome === 'failed') throw new Error('credits are always in stock');
    // Also when the payment settled long ago: a payer who never came back is still owed the credits.
    const isOwed = sold.outcome === 'served' || (sold.outcome === 'conflict' && OWED.has(sold.why));
    if (!isOwed) {
      await refusals.note(c);
      return answerOf(c, sold, { payment, offer, settings });
    }
    const { network, asset, payer, nonce } = paymentId(payment, offer);
    const ref = `x402:${network}:${asset}:${payer}:${nonce}`;
    const give = () =>
      store.records.credits.append(account, { at: clock.now(), amount: credits * CREDIT, note: 'bought by x402', ref });
    // They are paid for, so they wait for another process that writes.
    await store.database.groupCommit(give, Number.POSITIVE_INFINITY);
    const transaction = (sold.outcome === 'served' ? sold.transaction : null) ?? '';
    setHeader(c, ...receiptHeader(payment, offer, { success: true, transaction }));
    const answer: z.infer<typeof CreditsBought> = {
      credits,
      balance: creditsOf(store.records.credits.balance(account)),
    };
    return c.json(answer, 200, { 'Cache-Control': PRIVATE });
  });

const OWED: ReadonlySet<string> = new Set(['answer_gone', 'repeated']);

const nodeMissing = (settings: Settings) => ({
  reason: 'node_missing',
  message: `credits are not sold here: this service has no node of the chain (X402_RPC_URL) to confirm payments. Nothing was charged; ask ${operatorOf(settings)} to set one, or to top up your credits`,
});

const closed = (settings: Settings) => ({
  reason: 'payments_closed',
  message: `this service does not accept payments; ask ${operatorOf(settings)} to top up your credits`,
});

function offerOf(one: Offer | null, credits: number): Offer | null {
  if (one === null) return null;
  return { ...one, units: one.units * credits, description: `${credits} ${credits === 1 ? 'credit' : 'credits'}` };
}
