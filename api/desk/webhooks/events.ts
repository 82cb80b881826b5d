import { z } from '@hono/zod-openapi';
import { FactRecord } from '../../../src/desk/fact-rows.ts';
import { CastRow } from '../../../src/desk/papers/cast.ts';
import { Byline, StoryRow } from '../../../src/desk/story.ts';
import { FactToReviseRow } from '../../../src/desk/to-revise.ts';
import { STANDARD_HEADERS, type WebhookEvent } from '../../openapi/webhooks.ts';

/** A story's row as receivers get it: its byline always declares an AI author. */
const WebhookStory = StoryRow.safeExtend({
  byline: Byline.safeExtend({ declared_ai: z.literal(true) }).openapi('ToldByline'),
}).openapi('WebhookStory', { description: 'A story as webhooks receive it.' });

/** The events that a paper's receivers get, by type (`src/desk/readers/webhook-queue.ts`). */
export const DESK_EVENTS: Readonly<Record<string, WebhookEvent>> = {
  'story.aired': {
    name: 'StoryAired',
    summary: 'A piece went on air, for the first time or again',
    data: WebhookStory,
  },
  'story.revised': { name: 'StoryRevised', summary: 'A piece on air was revised', data: WebhookStory },
  'story.withdrawn': {
    name: 'StoryWithdrawn',
    summary: 'A piece left the air',
    data: z
      .object({
        id: z.string(),
        slug: z.string().optional().openapi({ description: 'Left out where the headline is withheld.' }),
        url: z.url().optional().openapi({ description: 'Left out where the headline is withheld.' }),
        headline_withheld: z.literal(true).optional().openapi({ description: 'Remove what you keep of the piece.' }),
        withdrawn_at: z.iso.datetime(),
        reason: z.string(),
      })
      .openapi('ToldWithdrawal'),
  },
  'cast.published': {
    name: 'CastPublished',
    summary: 'The video or audio edition of a day was published',
    data: CastRow,
  },
  'fact.corrected': {
    name: 'FactCorrected',
    summary: 'A fact that pieces on air cite was corrected or retracted',
    data: FactRecord.pick({
      ...{ claim_key: true, version: true, statement: true, source: true, instrument: true, quote: true },
      ...{ status: true, note: true },
    })
      .extend({ url: z.url().openapi({ description: 'The page of the fact.' }) })
      .openapi('ToldFact'),
  },
  'fact.to_revise': {
    name: 'FactNeedsRevision',
    summary: 'The source of a fact on air is gone, has changed, lacks the quote or is not valid; once for each finding',
    data: FactToReviseRow.extend({
      url: z.url().openapi({ description: 'The page of the fact, or of the piece with the entry.' }),
    }).openapi('ToldFactToRevise'),
  },
  'webhook.test': {
    name: 'WebhookTest',
    summary: 'A test of the receiver',
    data: z.object({ paper: z.string(), webhook: z.string().openapi({ description: 'Its id.' }) }),
  },
};

export const DESK_EVENT_HEADERS = {
  ...STANDARD_HEADERS,
  'X-NRF-Signature': z.string().openapi({
    description: '`t=<Unix seconds>,v1=<hex>`: HMAC-SHA-256 over `<t>.<body>`, by the same key.',
  }),
};
