import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Env } from 'hono';
import { body } from './responses.ts';

/** An event that webhooks deliver. */
export interface WebhookEvent {
  /** The name of its schema and operation, such as `StoryAired`. */
  name: string;
  summary: string;
  data: z.ZodType;
}

/** The headers of Standard Webhooks, which every delivery has. */
export const STANDARD_HEADERS = {
  'webhook-id': z.string().openapi({ description: 'The id of the event; repeats have the same id.' }),
  'webhook-timestamp': z
    .string()
    .openapi({ description: 'When this was sent, in Unix seconds.', example: '1763620200' }),
  'webhook-signature': z.string().openapi({
    description:
      '`v1,` and the base64 of HMAC-SHA-256 over `<webhook-id>.<webhook-timestamp>.<body>`, by the bytes that the secret’s base64 after `whsec_` stands for.',
  }),
};

/** Adds the deliveries to the document's `webhooks`, by event type. Call it once. */
export function registerWebhooks<E extends Env>(
  { openAPIRegistry: registry }: OpenAPIHono<E>,
  events: Readonly<Record<string, WebhookEvent>>,
  { tag, headers }: { tag: string; headers: Record<string, z.ZodType> },
): void {
  for (const [type, { name, summary, data }] of Object.entries(events)) {
    const message = z
      .object({
        type: z.literal(type),
        timestamp: z.iso.datetime().openapi({ description: 'When it happened.' }),
        data,
      })
      .openapi(`${name}Event`);
    registry.registerWebhook({
      method: 'post',
      path: type,
      operationId: `told${name}`,
      tags: [tag],
      summary,
      security: [],
      request: { headers: z.object(headers), body: body(message) },
      responses: {
        '2XX': { description: 'Accepted; the response body is ignored.' },
        410: { description: 'The receiver is switched off and gets no more deliveries.' },
        default: {
          description: 'Not accepted, nor is a redirect: it is sent again, up to ten times within three days.',
        },
      },
    });
  }
}
