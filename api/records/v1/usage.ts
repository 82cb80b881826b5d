import { z } from '@hono/zod-openapi';
import { usageNow } from '../../../src/records/account-data.ts';
import { BURST_MAX, PLANS } from '../../../src/records/meter/account-usage.ts';
import { planInWords } from '../../../src/records/meter/plan-order.ts';
import { USAGE_DAYS_MAX } from '../../../src/records/meter/usage.ts';
import { limitsOf } from '../../../src/records/plans.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { ok } from '../../openapi/responses.ts';
import { topUpUrl } from '../lanes/addresses.ts';
import { operation } from '../route.ts';
import { accountOf } from './account/change.ts';

const SPAN = 31;
const RANGE = `must be a whole number from 1 to ${USAGE_DAYS_MAX}`;

const count = z.int().min(0);
const credits = z.number().min(0);
const COUNTS = {
  units: count.describe('Requests that were answered and counted, included or on credits.'),
  included: count,
  on_credits: count,
  refused: count.describe('Rejected with 402.'),
  failed: count.describe('Answered with 400 or above; their units were refunded.'),
};

const UsageAnswer = z
  .object({
    at: z.iso.datetime(),
    plan: z.enum(PLANS),
    burst: z.int().min(1).max(BURST_MAX).describe('How many daily shares one day may use.'),
    today: z.object({ day: z.iso.date(), ...COUNTS, allowance: count, remaining: count, resets_at: z.iso.datetime() }),
    month: z
      .object({
        month: z.string(),
        ...COUNTS,
        allowance: count.nullable(),
        remaining: count.nullable(),
        resets_at: z.iso.datetime(),
      })
      .describe('Only the monthly plan has an allowance here.'),
    credits: z.object({
      cost_per_request: credits,
      allowance: credits.describe('Today’s included requests, in credits.'),
      used: credits.describe('Today’s requests, in credits.'),
      remaining: credits.describe('Included credits left today.'),
      resets_at: z.iso.datetime(),
      balance: credits.describe('Bought credits that are not spent. They do not expire at midnight.'),
      top_up: z.url(),
    }),
    rate: z.object({ per_minute: count }).describe('Requests per key and clock minute.'),
    bought_plan: z
      .object({ name: z.string(), ends_at: z.iso.datetime() })
      .nullable()
      .describe('The bought plan that is in force; its account is metered by the day.'),
    exports: z.object({ used: count, allowance: count }).describe('Of today.'),
    keys: z.array(z.object({ id: z.string(), name: z.string(), revoked: z.boolean(), today: count, month: count })),
    days: z.array(z.object({ day: z.iso.date(), ...COUNTS })).describe('Oldest first, without gaps.'),
  })
  .openapi('Usage');

const spec = {
  operationId: 'readUsage',
  tags: ['Account'],
  summary: 'Requests used and left, and the credit balance of the account',
  description: 'Never metered, and never rejected for a spent allowance.',
  request: {
    query: z.object({
      days: z
        .string()
        .regex(/^\d{1,3}$/, RANGE)
        .transform(Number)
        .refine((days) => days >= 1 && days <= USAGE_DAYS_MAX, RANGE)
        .default(SPAN)
        .openapi({
          type: 'integer',
          minimum: 1,
          maximum: USAGE_DAYS_MAX,
          default: SPAN,
          description: 'Number of days, ending with today.',
          example: SPAN,
        }),
    }),
  },
  responses: { 200: ok(UsageAnswer, 'The meter of the key’s account.') },
};

export const readUsage = (app: AppContext) =>
  operation(spec, (c) => {
    const account = accountOf(app, c);
    const usage = usageNow(app, account.id, c.req.valid('query').days);
    if (usage === null) throw new Fault('key_invalid', 'the account of this key was deleted');
    const { limits, bought } = limitsOf(app, account);
    return {
      ...usage,
      credits: { ...usage.credits, top_up: topUpUrl(app.settings) },
      rate: { per_minute: limits.per_minute },
      bought_plan: planInWords(bought),
      exports: { used: app.store.records.meter.exports(account.id, app.clock.now()), allowance: limits.exports },
    };
  });
