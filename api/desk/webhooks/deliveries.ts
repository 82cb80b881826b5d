import { z } from '@hono/zod-openapi';
import { DELIVERY_STATES } from '../../../src/outbound/delivery.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { IDEMPOTENCY } from '../../openapi/idempotency.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { reply } from '../../responses/reply.ts';
import { listOf, listSchema } from '../list.ts';
import { IdCursor } from '../params.ts';
import { operation } from '../route.ts';
import type { Writer } from '../writing/write.ts';
import { write } from '../writing/write.ts';
import { DeliveryRow, deliveryRow, QueuedDelivery, rowOf } from './delivery-row.ts';

const common = { tags: ['Webhooks'] };

const list = {
  ...common,
  operationId: 'listDeliveries',
  summary: 'What was sent to webhooks, and every attempt',
  description: 'Those of the last 30 days. Of each receiver’s response, only the status is stored.',
  request: {
    query: z.object({
      limit: limitParam(50, 200),
      cursor: cursorParam,
      state: z.enum(DELIVERY_STATES).optional().openapi({ description: 'Only those in this state.' }),
      webhook: z.string().max(40).optional().openapi({ description: 'Only those to the webhook of this id.' }),
    }),
  },
  responses: { 200: ok(listSchema('DeliveryList', 'deliveries', DeliveryRow), 'Newest first.'), ...faults() },
};

const retry = {
  ...common,
  operationId: 'retryDelivery',
  summary: 'Send one again, now',
  description: [
    'The same bytes under the same `webhook-id`, with a new signature. A waiting delivery is sent now and keeps its schedule; any other gets one attempt.',
    'It is sent right after the response, even to a webhook that is switched off; if it succeeds, the webhook is on again.',
  ].join('\n\n'),
  before: [jsonBody({ mayBeEmpty: true })],
  request: {
    params: z.object({
      id: z.string().openapi({ param: { name: 'id', in: 'path' }, description: 'The delivery’s id.' }),
    }),
    headers: IDEMPOTENCY,
  },
  responses: {
    200: ok(QueuedDelivery, 'The delivery, as it waits.'),
    ...faults(413, 415, 422),
  },
};

/** Webhooks: the receivers, the log of deliveries, and redelivery. */
export function deliveryHandlers(writer: Writer) {
  const { store, now } = writer.app;
  return {
    list: operation(list, (c) => {
      const { limit, cursor, ...of } = c.req.valid('query');
      const [after] = readCursor(IdCursor, cursor);
      const found = store.deliveries.list(c.get('site').slug, { limit: limit + 1, after, ...of });
      const { rows, next } = pageOf(found, limit, ({ id }) => cursorOf([id]));
      return reply(listOf(c, 'deliveries', rows.map(rowOf), next), { page: { limit, cursor, ...of } });
    }),
    retry: operation(retry, (c) => {
      const { id } = c.req.valid('param');
      return write(writer, c, () => {
        const { slug } = c.get('site');
        store.deliveries.retry(slug, id, now());
        return { status: 200, body: deliveryRow(store.deliveries, slug, id) };
      });
    }),
  };
}
