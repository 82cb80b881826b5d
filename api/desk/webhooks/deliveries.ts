import { z } from '@hono/zod-openapi';
import type { DeliveryRecord, DeliveryTable } from '../../../src/desk/readers/delivery.ts';
import { isoOrNull, isoTime } from '../../../src/proof/time.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { DELIVERY_STATES, OFF_REASONS } from '../../../src/shared/outbound/delivery.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { reply } from '../../responses/reply.ts';
import { IdCursor, listOf, listSchema, operationsUnder, pathParam, writes } from '../route.ts';
import { Pressing, type Writer, write } from '../writing/write.ts';

const operation = operationsUnder('Webhooks');

const AttemptRow = z
  .object({
    at: z.iso.datetime(),
    status: z.int().nullable().openapi({ description: 'The status of the response; null without one.' }),
    ms: z.int().min(0).openapi({ description: 'Duration of the attempt, in ms.' }),
    error: z.string().nullable().openapi({
      description:
        'Null when it was accepted; otherwise one of: `status`, `redirect`, `gone`, `timeout`, `refused`, `closed`, `dns`, `tls`, `unreachable`, `not_http`, `private_address`, `bad_address`, `no_webhook`, `failed`.',
    }),
  })
  .openapi('Attempt');

const EXAMPLE = {
  id: '01kq3vd2m6w2d5c8z4n0r9t1b6',
  type: 'story.aired',
  webhook_id: '01kq3vc2m6w2d5c8z4n0r9t1b6',
  webhook: {
    id: '01kq3vb2m6w2d5c8z4n0r9t1b6',
    host: 'hooks.example.org',
    of: 'desk',
    off_at: null,
    off_reason: null,
  },
  state: 'waiting',
  made_at: '2026-11-20T06:30:00.250Z',
  attempts: [{ at: '2026-11-20T06:30:00.300Z', status: 503, ms: 41, error: 'status' }],
  next_attempt_at: '2026-11-20T06:30:05.341Z',
};

/** A delivery as admins see it. */
const DeliveryRow = z
  .object({
    id: z.string(),
    type: z.string().openapi({ description: 'The type of the event, or `webhook.test`.' }),
    webhook_id: z.string().openapi({ description: 'Sent as `webhook-id`: the event’s id.' }),
    webhook: z
      .object({
        id: z.string().openapi({ description: 'For a subscriber’s webhook: the subscriber’s id.' }),
        host: z.string().openapi({ description: 'Its host, with its port unless that is the default.' }),
        of: z.enum(['desk', 'subscriber']),
        off_at: z.iso.datetime().nullable().openapi({ description: 'When it was switched off.' }),
        off_reason: z.enum(OFF_REASONS).nullable(),
      })
      .openapi({ description: 'The webhook that it is sent to.' }),
    state: z.enum(DELIVERY_STATES).openapi({ description: 'To be sent or sent again, accepted, or given up.' }),
    made_at: z.iso.datetime(),
    attempts: z.array(AttemptRow).openapi({ description: 'Oldest first.' }),
    next_attempt_at: z.iso.datetime().nullable().openapi({ description: 'Null when no attempt is scheduled.' }),
  })
  .openapi('Delivery', { example: EXAMPLE });

/** A delivery that a write queued. */
export const QueuedDelivery = DeliveryRow.safeExtend(Pressing).openapi('QueuedDelivery', {
  example: { ...EXAMPLE, pressed: true, files: 0 },
});

function rowOf(record: DeliveryRecord): z.infer<typeof DeliveryRow> {
  const { id, type, message, webhook, host, of_subscriber, off_at, off_reason, state } = record;
  return {
    id,
    type,
    webhook_id: message,
    webhook: {
      id: webhook,
      host,
      of: of_subscriber ? 'subscriber' : 'desk',
      off_at: isoOrNull(off_at),
      off_reason,
    },
    state,
    made_at: isoTime(record.made_at),
    attempts: record.attempts.map(({ at, ...rest }) => ({ at: isoTime(at), ...rest })),
    next_attempt_at: state === 'waiting' ? isoTime(record.due_at) : null,
  };
}

/** One delivery. Throws `not_found`. */
export function deliveryRow(deliveries: DeliveryTable, paper: string, id: string): z.infer<typeof DeliveryRow> {
  const record = deliveries.get(paper, id);
  if (record !== null) return rowOf(record);
  const message = `this paper has no delivery ${JSON.stringify(id.slice(0, 80))}; GET /api/v1/deliveries lists those of the last 30 days`;
  throw new Fault('not_found', message);
}

const list = {
  operationId: 'listDeliveries',
  summary: 'What was sent to webhooks, and every attempt',
  description: 'Those of the last 30 days. Of each receiver’s response, only the status is stored.',
  request: {
    query: z.object({
      limit: limitParam(50, 200),
      cursor: cursorParam,
      state: z.enum(DELIVERY_STATES).optional().openapi({ description: 'Only those in this state.' }),
      webhook: z.string().max(40).optional().openapi({ description: 'Only those to the webhook with this id.' }),
    }),
  },
  responses: { 200: ok(listSchema('DeliveryList', 'deliveries', DeliveryRow), 'Newest first.') },
};

const retry = writes({
  operationId: 'retryDelivery',
  summary: 'Send one again, now',
  description: [
    'The same bytes under the same `webhook-id`, with a new signature. A waiting delivery is sent now and keeps its schedule; any other gets one attempt.',
    'It is sent right after the response, even to a webhook that is switched off; if it succeeds, the webhook is on again.',
  ].join('\n\n'),
  before: [jsonBody({ mayBeEmpty: true })],
  request: { params: pathParam('id', 'The delivery’s id.') },
  responses: { 200: ok(QueuedDelivery, 'The delivery, queued.') },
});

/** Webhooks: the receivers, the log of deliveries, and redelivery. */
export function deliveryHandlers(writer: Writer) {
  const { store, clock } = writer.app;
  return {
    list: operation(list, (c) => {
      const { limit, cursor, ...of } = c.req.valid('query');
      const [after] = readCursor(IdCursor, cursor);
      const found = store.desk.deliveries.list(c.get('site').slug, { limit: limit + 1, after, ...of });
      const { rows, next } = pageOf(found, limit, ({ id }) => cursorOf([id]));
      return reply(listOf(c, 'deliveries', rows.map(rowOf), next), { page: { limit, cursor, ...of } });
    }),
    retry: operation(retry, (c) => {
      const { id } = c.req.valid('param');
      return write(writer, c, () => {
        const { slug } = c.get('site');
        store.desk.deliveries.retry(slug, id, clock.now());
        const body = deliveryRow(store.desk.deliveries, slug, id);
        const subject = { kind: 'delivery' as const, id, title: body.webhook.host };
        return { status: 200, body, did: [{ action: 'delivery.retried', subject }] };
      });
    }),
  };
}
