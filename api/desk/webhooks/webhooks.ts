import { z } from '@hono/zod-openapi';
import { webhookChange } from '../../../src/desk/activity.ts';
import {
  addWebhook,
  changeWebhook,
  NEW_HEALTH,
  replaceWebhookSecret,
  requireReceiver,
  requireWebhook,
  WebhookBody,
  WebhookChange,
  webhookRow,
} from '../../../src/desk/readers/webhook.ts';
import { queueTest } from '../../../src/desk/readers/webhook-queue.ts';
import { isoTime } from '../../../src/proof/time.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { OFF_REASONS } from '../../../src/shared/outbound/delivery.ts';
import { jsonBody } from '../../middleware/json-body.ts';
import { body, created, faults, ok } from '../../openapi/responses.ts';
import { reply } from '../../responses/reply.ts';
import { listOf, listSchema, operationsUnder, pathParam, writes } from '../route.ts';
import { Pressing, type Writer, write } from '../writing/write.ts';
import { deliveryRow, QueuedDelivery } from './deliveries.ts';

const operation = operationsUnder('Webhooks');

const ROW = {
  id: '01kq3vb2m6w2d5c8z4n0r9t1b6',
  url: 'https://hooks.example.org/plumb-line',
  sections: ['Time'],
  cast: false,
  made_at: '2026-11-20T06:30:00.000Z',
  failing_since: null,
  off_at: null,
  off_reason: null,
  paused_at: null,
  succeeded_at: '2026-11-20T06:30:00.341Z',
  failed_at: null,
  waiting: 0,
};

const WebhookRow = z
  .object({
    id: z.string(),
    url: z.url(),
    sections: z.array(z.string()).openapi({ description: 'The sections whose events it gets.' }),
    cast: z.boolean().openapi({ description: 'Whether it gets the events of the video or audio edition.' }),
    made_at: z.iso.datetime(),
    failing_since: z.iso.datetime().nullable().openapi({ description: 'Since when it has accepted no deliveries.' }),
    off_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When it was switched off. A successful test or retry switches it on again.' }),
    off_reason: z.enum(OFF_REASONS).nullable().openapi({
      description: '`gone`: it answered 410. `failing`: it accepted nothing during a whole schedule of retries.',
    }),
    paused_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When it was paused; a paused webhook gets no events.' }),
    succeeded_at: z.iso.datetime().nullable().openapi({ description: 'When it last accepted a delivery.' }),
    failed_at: z.iso.datetime().nullable().openapi({ description: 'When an attempt last failed.' }),
    waiting: z.int().min(0).openapi({ description: 'How many deliveries wait for it.' }),
  })
  .openapi('Webhook', { example: ROW });

const NewWebhook = WebhookRow.safeExtend({
  secret: z.string().openapi({
    description:
      '`whsec_` and base64. The bytes that the base64 stands for are the key of both signatures: of Standard Webhooks’ `webhook-signature`, and of `X-NRF-Signature`.',
  }),
  ...Pressing,
}).openapi('NewWebhook', {
  example: { ...ROW, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=', pressed: true, files: 0 },
});

const idParam = pathParam('id', 'The webhook’s id.', ROW.id);
const list = {
  operationId: 'listWebhooks',
  summary: 'The desk’s own receivers of events',
  description: 'The desk’s own. A subscriber’s is in the subscriber’s row.',
  responses: { 200: ok(listSchema('WebhookList', 'webhooks', WebhookRow), 'Oldest first.') },
};

const add = writes({
  operationId: 'addWebhook',
  summary: 'Add a receiver; the response has the secret that signs its deliveries',
  description: [
    'It gets `story.aired`, `story.revised`, `story.withdrawn`, `cast.published`, `fact.corrected` and `fact.to_revise` with `{type, timestamp, data}`, within seconds, at least once, in no set order: `webhook-id` identifies repeats, `timestamp` and `revision` show which of two is newer.',
    'A 2xx response accepts it. Any other, including a redirect, or none within ten seconds, is a failure, and it is sent again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. A 410 response switches the webhook off.',
  ].join('\n\n'),
  request: { body: body(WebhookBody) },
  responses: { 201: created(NewWebhook, 'The webhook.'), ...faults(409) },
});

const change = writes({
  operationId: 'changeWebhook',
  summary: 'Change a receiver, pause it, or resume it',
  description: 'Omitted members keep their values. Changing `url` keeps the secret.',
  request: { params: idParam, body: body(WebhookChange) },
  responses: {
    200: ok(
      WebhookRow.safeExtend(Pressing).openapi('ChangedWebhook', { example: { ...ROW, pressed: true, files: 0 } }),
      'The webhook as it is now.',
    ),
  },
});

const replaceSecret = writes({
  operationId: 'replaceWebhookSecret',
  summary: 'Give a receiver a new secret',
  description:
    'The old secret also signs for 24 hours: `webhook-signature` then has two signatures, separated by a space, of which a receiver of Standard Webhooks needs to match one. `X-NRF-Signature` has one, by the new secret, from now on.',
  before: [jsonBody({ mayBeEmpty: true })],
  request: { params: idParam },
  responses: {
    200: ok(
      NewWebhook.safeExtend({
        old_secret_until: z.iso.datetime().openapi({ description: 'Until when the old secret also signs.' }),
      }).openapi('ReplacedSecret', {
        example: {
          ...{ ...ROW, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=', pressed: true, files: 0 },
          old_secret_until: '2026-11-21T06:30:00.000Z',
        },
      }),
      'The webhook with its new secret.',
    ),
  },
});

const remove = writes({
  operationId: 'removeWebhook',
  summary: 'Remove a receiver and its queued deliveries',
  request: { params: idParam },
  responses: {
    200: ok(
      z
        .object({ id: z.string(), removed: z.literal(true), ...Pressing })
        .openapi('RemovedWebhook', { example: { id: ROW.id, removed: true, pressed: true, files: 0 } }),
      'It gets no more deliveries.',
    ),
  },
});

const tryOut = writes({
  operationId: 'testWebhook',
  summary: 'Send a receiver a test, of type `webhook.test`',
  description:
    'The desk’s own, or a confirmed subscriber’s by the `webhook_id` of the subscriber’s row. One attempt, right after the response; `GET /api/v1/deliveries` shows the outcome.',
  before: [jsonBody({ mayBeEmpty: true })],
  request: { params: idParam },
  responses: { 200: ok(QueuedDelivery, 'The delivery, queued.') },
});

/** A desk's own event receivers: listing, adding, removing and testing them. */
export function webhookHandlers(writer: Writer) {
  const { store, settings, clock } = writer.app;
  return {
    list: operation(list, (c) => {
      const { slug, paper } = c.get('site');
      const rows = store.desk.webhooks.list(slug).map((webhook) => webhookRow(webhook, paper.sections));
      return listOf(c, 'webhooks', rows);
    }),
    add: operation(add, async (c) => {
      const { slug, paper } = c.get('site');
      const work = () => {
        const terms = { now: clock.now(), newId, allowsPrivate: settings.webhookPrivate };
        const webhook = addWebhook(store.desk, slug, c.req.valid('json'), paper.sections, terms);
        const fresh = { ...webhook, ...NEW_HEALTH };
        // The response that is stored for retries contains no secret.
        const did = [webhookChange('added', webhook)];
        return { status: 201, body: webhookRow(fresh, paper.sections), did } as const;
      };
      const { body: row, init } = await write(writer, c, work, { addressOf: ({ id }) => `webhooks/${id}` });
      return reply({ ...row, secret: requireWebhook(store.desk.webhooks, slug, row.id).secret }, init);
    }),
    change: operation(change, (c) => {
      const { id } = c.req.valid('param');
      const given = c.req.valid('json');
      return write(writer, c, () => {
        const { slug, paper } = c.get('site');
        const at = { sections: paper.sections, now: clock.now(), allowsPrivate: settings.webhookPrivate };
        const { webhook, changed } = changeWebhook(store.desk, slug, id, given, at);
        const did = changed.length === 0 ? [] : [webhookChange('changed', webhook, { changed })];
        return { status: 200, body: webhookRow(webhook, paper.sections), did };
      });
    }),
    replaceSecret: operation(replaceSecret, async (c) => {
      const { id } = c.req.valid('param');
      const { slug, paper } = c.get('site');
      const { body: row, init } = await write(writer, c, () => {
        const webhook = replaceWebhookSecret(store.desk, slug, id, clock.now());
        const old_secret_until = isoTime(webhook.old_secret_until ?? 0);
        // The response that is stored for retries contains no secret.
        const body = { ...webhookRow(webhook, paper.sections), old_secret_until };
        return { status: 200, body, did: [webhookChange('secret', webhook)] };
      });
      return reply({ ...row, secret: requireWebhook(store.desk.webhooks, slug, id).secret }, init);
    }),
    remove: operation(remove, (c) => {
      const { id } = c.req.valid('param');
      return write(writer, c, () => {
        const { slug } = c.get('site');
        const webhook = requireWebhook(store.desk.webhooks, slug, id);
        store.desk.webhooks.remove(slug, id);
        return { status: 200, body: { id, removed: true }, did: [webhookChange('removed', webhook)] };
      });
    }),
    tryOut: operation(tryOut, (c) => {
      const { id } = c.req.valid('param');
      return write(writer, c, () => {
        const { slug } = c.get('site');
        const receiver = requireReceiver(store.desk, slug, id, clock.now());
        const delivery = queueTest(store.desk, slug, receiver, { now: clock.now(), newId });
        const did = [webhookChange('tested', receiver)];
        return { status: 200, body: deliveryRow(store.desk.deliveries, slug, delivery), did };
      });
    }),
  };
}
