import { z } from '@hono/zod-openapi';
import type { WebhookEvent } from '../../openapi/webhooks.ts';
import { Delta } from '../v1/record-schemas.ts';

/** The events of an account's webhooks, by type (`src/accounts/change-queue.ts`). */
export const RECORDS_EVENTS: Readonly<Record<string, WebhookEvent>> = {
  'domain.changed': {
    name: 'DomainChanged',
    summary: 'Hostnames of an alert have changed',
    data: z.object({ changes: z.array(Delta).min(1).openapi({ description: 'Oldest first.' }) }),
  },
  'webhook.test': {
    name: 'WebhookTest',
    summary: 'A test of the receiver',
    data: z.object({ alert: z.string().openapi({ description: 'The alert’s id.' }) }),
  },
};
