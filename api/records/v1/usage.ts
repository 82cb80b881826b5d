import { createRoute, z } from '@hono/zod-openapi';
import { usageNow } from '../../../src/app/usage.ts';
import { Fault } from '../../../src/fault.ts';
import { BURST_MAX, PLANS } from '../../../src/meter/plan.ts';
import { USAGE_DAYS_MAX } from '../../../src/meter/usage.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { privateJson } from '../../responses/send.ts';
import { topUpUrl } from '../lanes/addresses.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';

const SPAN = 31;
const RANGE = `must be a whole number from 1 to ${USAGE_DAYS_MAX}`;

const count = z.int().min(0);
const credits = z.number().min(0);
const COUNTS = {
  units: count.openapi({
    description: 'Requests that were answered and counted: those included and those on credits.',
  }),
  included: count,
  on_credits: count,
  refused: count.openapi({ description: 'Refused with 402.' }),
  failed: count.openapi({ description: 'Answered with 400 or more: their units were given back.' }),
};

export const UsageAnswer = z
  .object({
    at: z.iso.datetime(),
    plan: z.enum(PLANS),
    burst: z.int().min(1).max(BURST_MAX).openapi({ description: 'How many days’ shares one day may take.' }),
    today: z.object({ day: z.iso.date(), ...COUNTS, allowance: count, remaining: count, resets_at: z.iso.datetime() }),
    month: z
      .object({
        month: z.string(),
        ...COUNTS,
        allowance: count.nullable(),
        remaining: count.nullable(),
        resets_at: z.iso.datetime(),
      })
      .openapi({ description: 'The allowance of a month is the monthly plan’s alone.' }),
    credits: z.object({
      cost_per_request: credits,
      allowance: credits.openapi({ description: 'Included for today: its allowance at the price of a request.' }),
      used: credits.openapi({ description: 'All of today’s units at that price.' }),
      remaining: credits.openapi({ description: 'Left of what is included for today.' }),
      resets_at: z.iso.datetime(),
      balance: credits.openapi({ description: 'Bought, and not drawn yet. It stays over midnight.' }),
      top_up: z.url(),
    }),
    rate: z.object({ per_minute: count }).openapi({ description: 'What each key may ask in a minute of the clock.' }),
    keys: z.array(z.object({ id: z.string(), name: z.string(), revoked: z.boolean(), today: count, month: count })),
    days: z.array(z.object({ day: z.iso.date(), ...COUNTS })).openapi({ description: 'Oldest first, without gaps.' }),
  })
  .openapi('Usage');

const route = createRoute({
  method: 'get',
  path: '/v1/usage',
  operationId: 'readUsage',
  tags: ['Account'],
  summary: 'What the account has asked, what is left, and its credits',
  description: 'Never metered, and never refused for an empty allowance.',
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
          description: 'How many days are told of, today the last.',
          example: SPAN,
        }),
    }),
  },
  responses: { 200: ok(UsageAnswer, 'The meter of the key’s account.'), ...faults() },
});

/** An account's own meter. */
export function usageDoor(doors: RecordsDoors): void {
  const { app } = doors;
  register(doors, 'usage', route, (c) => {
    const usage = usageNow(app, c.get('key')?.account ?? '', c.req.valid('query').days);
    if (usage === null) throw new Fault('key_invalid', 'X-Service-Key: the account of this key is no more');
    const { keys, days, ...standing } = usage;
    const body: z.infer<typeof UsageAnswer> = {
      ...standing,
      credits: { ...standing.credits, top_up: topUpUrl(app.settings) },
      rate: { per_minute: app.settings.keyedPerMinute },
      keys,
      days,
    };
    return privateJson(c, body);
  });
}
