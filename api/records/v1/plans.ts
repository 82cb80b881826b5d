import { z } from '@hono/zod-openapi';
import { PAYMENT_HEADERS } from '../../../src/records/meter/payment.ts';
import { FREE } from '../../../src/records/meter/plan.ts';
import { planInWords, planReceipt } from '../../../src/records/meter/plan-order.ts';
import { limitsOf, planOffer, planRows, sellsToAccounts } from '../../../src/records/plans.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { setHeader } from '../../responses/headers.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { PRIVATE } from '../../responses/send.ts';
import { paymentOf, receiptHeader } from '../lanes/payment.ts';
import type { PlanCounter } from '../lanes/plan-counter.ts';
import { listOf, wholeList } from '../list.ts';
import { operation } from '../route.ts';
import { accountOf, accountOperations } from './account/change.ts';

const count = z.int().min(0);
const time = z.iso.datetime();
const LIMITS = {
  daily: count.describe('Included requests per UTC day.'),
  per_minute: count.describe('Requests per clock minute for each key.'),
  watch: count.describe('Hostnames in groups.'),
  streams: count.describe('Open streams.'),
  exports: count.describe('Exports per UTC day.'),
};

const Plan = z
  .object({
    name: z.string(),
    ...LIMITS,
    days: z.int().min(1).nullable().describe('How long it lasts.'),
    price: z.string().nullable().describe('For all its days, in words; null while payments are closed.'),
    units: z.string().nullable().describe('The same in atomic units of the token.'),
  })
  .openapi('Plan');
const PlanList = listOf('PlanList', Plan, {
  network: z.string().nullable().describe('As in x402 version 1; null while plans are not sold.'),
  asset: z.string().nullable().describe('The token that is paid.'),
});

export const listPlans = (app: AppContext) => {
  const cache = new ResponseCache();
  return operation(
    {
      operationId: 'listPlans',
      tags: ['Public'],
      summary: 'The plans on sale, and what every account has',
      description: `The first, \`${FREE}\`, is what every account has without a plan: its \`days\`, \`price\` and \`units\` are null. A plan never gives less.`,
      responses: { 200: ok(PlanList, 'The cheapest per day first.') },
    },
    () => {
      const { x402 } = app.settings;
      const isSold = sellsToAccounts(app.settings);
      const token = {
        network: isSold ? (x402?.network.name ?? null) : null,
        asset: isSold ? (x402?.asset.address ?? null) : null,
      };
      const body = JSON.stringify({ ...token, ...wholeList(planRows(app)) });
      return cache.load('plans', body, () => body);
    },
  );
};

const Receipt = z
  .object({
    id: z.string().describe('The number of the receipt.'),
    plan: z.string(),
    days: z.int().min(1),
    limits: z.object(LIMITS),
    cost: z.string().describe('What was paid, in words.'),
    units: z.string(),
    network: z.string().describe('As CAIP-2 names it.'),
    payer: z.string().describe('The address that paid.'),
    transaction: z.string().nullable(),
    ordered_at: time,
    starts_at: time,
    ends_at: time,
    carried_seconds: count.describe('How much of it is what was left of the plan before.'),
  })
  .openapi('PlanReceipt');

export const listBoughtPlans = (app: AppContext) =>
  accountOperations(app).reads(
    {
      operationId: 'listBoughtPlans',
      summary: 'The account’s limits, its plan, and every receipt',
      responses: {
        200: ok(
          listOf('BoughtPlans', Receipt, {
            limits: z.object(LIMITS).describe('The limits now.'),
            plan: z
              .object({ name: z.string(), ends_at: time })
              .nullable()
              .describe('The plan in force; null for none.'),
          }),
          'Newest first.',
        ),
      },
    },
    (account) => {
      const { limits, bought } = limitsOf(app, account);
      const receipts = app.store.records.plans.receipts(account.id).map(planReceipt);
      return { limits, plan: planInWords(bought), ...wholeList(receipts) };
    },
  );

const buySpec = {
  operationId: 'buyPlan',
  tags: ['Account'],
  summary: 'Buy or renew a plan for the key’s account with a payment (x402)',
  description: [
    'Takes a key of the account and a payment for the offer in the 402 of the same request. The plan is in force at once, and ends by itself.',
    'What is left of the account’s plan counts, at the price per day for which it was bought: `left × price before × days ÷ (days before × price)`, in whole milliseconds, rounded down. So a renewal adds its days exactly.',
    'Sending the same payment again buys nothing more: it gets the same receipt. A payment whose outcome is not known is looked up, also if it is never sent again. A payment for another price is 402 `wrong_amount`; one that bought something else is 409.',
    'Plans are sold only where the service itself sees the transfer on the chain; without a node of the chain, the 402 has an empty `accepts` and `reason: "node_missing"`.',
  ].join('\n\n'),
  request: {
    params: z.object({
      name: z
        .string()
        .max(100)
        .openapi({
          param: { name: 'name', in: 'path' },
          description: 'The name of the plan.',
          example: 'newsroom',
        }),
    }),
  },
  responses: { 200: ok(Receipt, 'The receipt. The plan is in force.'), ...faults(402, 409) },
};

export const buyPlan = (app: AppContext, counter: PlanCounter) =>
  operation(buySpec, async (c) => {
    const { name } = c.req.valid('param');
    const account = accountOf(app, c);
    setHeader(c, 'Cache-Control', PRIVATE);
    const isPaid = Object.values(PAYMENT_HEADERS).some((header) => c.req.header(header) !== undefined);
    if (!isPaid) return counter.menu(c, account, name);
    const payment = paymentOf(c);
    const paid = await counter.buy(c, account, name, payment);
    if (paid instanceof Response) return paid;
    const offer = planOffer(app.settings, paid);
    if (offer !== null) {
      setHeader(c, ...receiptHeader(payment, offer, { success: true, transaction: paid.transaction ?? '' }));
    }
    return planReceipt(paid);
  });
