import { z } from '@hono/zod-openapi';
import type { WebhookEvent } from '../../openapi/webhooks.ts';
import { Delta } from '../v1/record-schemas.ts';

/** What an account's receivers are told of, by type (`src/app/change-desk.ts`). */
export const RECORDS_EVENTS: Readonly<Record<string, WebhookEvent>> = {
  'domain.changed': {
    name: 'DomainChanged',
    summary: 'Hostnames that an alert is about have changed',
    data: z.object({ changes: z.array(Delta).min(1).openapi({ description: 'Oldest first.' }) }),
  },
  'webhook.test': {
    name: 'WebhookTest',
    summary: 'Somebody tries the receiver',
    data: z.object({ alert: z.string().openapi({ description: 'The alert’s id.' }) }),
  },
};
