import { z } from '@hono/zod-openapi';
import { isoOrNull, isoTime } from '../../../../src/proof/time.ts';
import { ALERT_FORMATS } from '../../../../src/records/accounts/alert-body.ts';
import {
  ALERT_WAYS,
  ALERTS_MAX,
  type AlertState,
  alertDeliveryRow,
  type ChangeAlert,
  makeAlert,
  renewSecret,
  requireAlert,
  sendAgain,
} from '../../../../src/records/accounts/change-alert.ts';
import { queueAlertTest } from '../../../../src/records/accounts/change-queue.ts';
import { requireWatched } from '../../../../src/records/require-host.ts';
import type { AppContext } from '../../../../src/server/context.ts';
import { Fault } from '../../../../src/shared/fault.ts';
import { newId } from '../../../../src/shared/new-id.ts';

import { body, faults, IDEMPOTENCY, ok } from '../../../openapi/responses.ts';
import { reply } from '../../../responses/reply.ts';
import { listOf, wholeList } from '../../list.ts';
import { operation } from '../../route.ts';
import { accountOf, accountOperations, changeOnce, idParam } from './change.ts';

const LOG = 50;

const time = z.iso.datetime();
const ALERT = {
  id: z.string(),
  group: z.object({ id: z.string(), name: z.string() }).nullable(),
  hostname: z.string().nullable(),
  way: z.enum(ALERT_WAYS),
  url: z.string().nullable().describe('Of a webhook.'),
  format: z.enum(ALERT_FORMATS).nullable().describe('How the requests of a webhook look; null for mails.'),
  made_at: time,
  paused_at: time.nullable().describe('When its account paused it; null while it is not paused.'),
  failing_since: time.nullable(),
  off_at: time.nullable().describe('When it was switched off; null while it is on.'),
  off_reason: z.enum(['gone', 'failing', 'unsubscribed', 'bounced']).nullable(),
};
const Alert = z.object(ALERT).openapi('ChangeAlert');
const NewAlert = z
  .object({
    ...ALERT,
    secret: z.string().nullable().describe('Of a webhook: what signs its deliveries, shown this one time.'),
  })
  .openapi('NewChangeAlert');
const AlertLog = z
  .object({
    ...ALERT,
    deliveries: z
      .array(
        z.object({
          ...{ id: z.string(), type: z.string(), state: z.enum(['waiting', 'delivered', 'failed']) },
          ...{ made_at: time, due_at: time },
          attempts: z.array(z.object({ at: time, ms: z.int(), outcome: z.string() })),
        }),
      )
      .describe('Of a webhook, newest first.'),
  })
  .openapi('ChangeAlertLog');
const AlertBody = z
  .object({
    group: z.string().max(64).default('').describe('The id of a group; or give `hostname`.'),
    hostname: z.string().max(1_000).default(''),
    way: z.enum(ALERT_WAYS, { error: `must be one of ${ALERT_WAYS.join(', ')}` }),
    url: z.string().max(2_000).default('').describe('Of a webhook: an https address.'),
    format: z
      .enum(['', ...ALERT_FORMATS], { error: `must be one of ${ALERT_FORMATS.join(', ')}` })
      .default('')
      .describe(
        'How the requests look: as events of this service (`standard`), or as messages for Slack, Discord, Microsoft Teams (Workflows) and PagerDuty (Events API v2). Without it, the host of `url` decides.',
      ),
    routing_key: z
      .string()
      .max(100)
      .default('')
      .describe('Of the format `pagerduty`: the integration key. Not shown again.'),
  })
  .openapi('ChangeAlertBody', {
    example: { hostname: 'example.com', way: 'webhook', url: 'https://hooks.example.org/dns' },
  });
const AlertOn = z
  .object({
    on: z.boolean({ error: 'must be true or false; DELETE ends an alert' }).describe('False pauses the alert.'),
  })
  .openapi('AlertOn', { example: { on: true } });
const params = idParam('alert');
const deliveryParams = params.extend({
  delivery: z
    .string()
    .max(64)
    .openapi({ param: { name: 'delivery', in: 'path' }, description: 'The id of a delivery in the log of the alert.' }),
});

export function alertOperations(app: AppContext) {
  const { store, settings, clock } = app;
  const { reads, changes } = accountOperations(app);
  const { changeAlerts, watchGroups } = store.records;
  const rowOf = ({ id, account, watch_group, hostname, way, url, format, ...alert }: ChangeAlert & AlertState) => {
    const group = watch_group === null ? null : watchGroups.get(account, watch_group);
    return {
      ...{ id, group: group === null ? null : { id: group.id, name: group.name }, hostname, way, url },
      format: url === null ? null : format,
      made_at: isoTime(alert.made_at),
      paused_at: isoOrNull(alert.paused_at),
      failing_since: isoOrNull(alert.failing_since),
      off_at: isoOrNull(alert.off_at),
      off_reason: alert.off_reason,
    };
  };
  const logOf = (alert: ChangeAlert & AlertState) => ({
    ...rowOf(alert),
    deliveries: changeAlerts.deliveries(alert.id, LOG).map(alertDeliveryRow),
  });
  return {
    list: reads(
      {
        operationId: 'listAlerts',
        summary: 'The account’s alerts of changes',
        responses: { 200: ok(listOf('ChangeAlertList', Alert), 'Oldest first.') },
      },
      ({ id }) => wholeList(changeAlerts.list(id).map(rowOf)),
    ),
    make: operation(
      {
        tags: ['Account'],
        operationId: 'makeAlert',
        summary: 'Create an alert of a group or of one hostname',
        description: `An account has at most ${ALERTS_MAX} (409). A webhook’s secret is shown once: sent again under the same Idempotency-Key, the answer is 409 and names the alert.`,
        request: { headers: IDEMPOTENCY, body: body(AlertBody) },
        responses: { 201: ok(NewAlert, 'The alert.'), ...faults(409, 421) },
      },
      async (c) => {
        let secret: string | null = null;
        const { body: row, isNew } = await changeOnce(app, c, 201, () => {
          const { id: account } = accountOf(app, c);
          const alert = makeAlert(store.records, account, c.req.valid('json'), {
            ...{ now: clock.now(), newId, allowsPrivate: settings.webhookPrivate },
            requireHost: (text) => requireWatched(app, text),
          });
          ({ secret } = alert);
          return rowOf(requireAlert(changeAlerts, account, alert.id));
        });
        if (!isNew && row.way === 'webhook') {
          const message = `alert ${row.id} was made under this Idempotency-Key, and its secret is shown once; if it was lost, remove it and make another`;
          throw new Fault('conflict', message);
        }
        const headers = { Location: `${settings.dataOrigin}/v1/account/alerts/${row.id}` };
        return reply({ ...row, secret }, { status: 201, headers });
      },
    ),
    show: reads(
      {
        operationId: 'readAlert',
        summary: 'One alert, with the log of its webhook',
        request: { params },
        responses: { 200: ok(AlertLog, 'The alert.') },
      },
      ({ id }, c) => logOf(requireAlert(changeAlerts, id, c.req.valid('param').id)),
    ),
    switchOn: changes(
      {
        operationId: 'switchAlertOn',
        summary: 'Switch an alert on again, or pause it',
        description:
          'A paused alert gets no later changes; what was queued before is still sent. On again, it gets those from then on.',
        request: { params, body: body(AlertOn) },
        responses: { 200: ok(Alert, 'The alert as it is now.') },
      },
      ({ id: account }, c) => {
        const { id } = requireAlert(changeAlerts, account, c.req.valid('param').id);
        if (c.req.valid('json').on) changeAlerts.switchOn(account, id, clock.now());
        else changeAlerts.pause(account, id, clock.now());
        return rowOf(requireAlert(changeAlerts, account, id));
      },
    ),
    test: changes(
      {
        operationId: 'testAlert',
        summary: 'Send a test: to the webhook, or by mail',
        description: 'One test at a time; of mails, one a minute for the account (409).',
        request: { params },
        responses: { 200: ok(Alert, 'The alert. GET has the delivery in its log.'), ...faults(409) },
      },
      (account, c) => {
        const alert = requireAlert(changeAlerts, account.id, c.req.valid('param').id);
        queueAlertTest(store.records, alert, { now: clock.now(), newId, root: settings.dataOrigin });
        return rowOf(alert);
      },
    ),
    sendAgain: changes(
      {
        operationId: 'retryAlertDelivery',
        summary: 'Send a delivery of a webhook again, now',
        description:
          'The same bytes under the same `webhook-id`, with a new signature. A waiting delivery is sent now and keeps its schedule; any other gets one attempt.',
        request: { params: deliveryParams },
        responses: { 200: ok(AlertLog, 'The alert with its log. GET has the outcome.') },
      },
      ({ id: account }, c) => {
        const { id, delivery } = c.req.valid('param');
        const alert = requireAlert(changeAlerts, account, id);
        sendAgain(changeAlerts, alert.id, delivery, clock.now());
        return logOf(alert);
      },
    ),
    renewSecret: operation(
      {
        tags: ['Account'],
        operationId: 'renewAlertSecret',
        summary: 'Give a webhook a new secret; it is shown this one time',
        description:
          'Deliveries are signed with the new secret from now on, also those that wait. Sent again under the same Idempotency-Key, the secret stays: the answer is 409. So it is for an alert by mail, which has none.',
        request: { headers: IDEMPOTENCY, params },
        responses: { 200: ok(NewAlert, 'The alert, with its new secret.'), ...faults(409) },
      },
      async (c) => {
        let secret: string | null = null;
        const { body: row } = await changeOnce(app, c, 200, () => {
          const { id: account } = accountOf(app, c);
          const { id } = c.req.valid('param');
          secret = renewSecret(changeAlerts, account, id);
          return rowOf(requireAlert(changeAlerts, account, id));
        });
        if (secret !== null) return { ...row, secret };
        const message = `alert ${row.id} got a new secret under this Idempotency-Key, and a secret is shown once; if it was lost, ask for another under another key`;
        throw new Fault('conflict', message);
      },
    ),
    remove: changes(
      {
        operationId: 'removeAlert',
        summary: 'Remove an alert',
        request: { params },
        responses: { 200: ok(Alert, 'The alert as it was.') },
      },
      ({ id }, c) => {
        const alert = requireAlert(changeAlerts, id, c.req.valid('param').id);
        const row = rowOf(alert);
        changeAlerts.remove(alert.account, alert.id);
        return row;
      },
    ),
  };
}
