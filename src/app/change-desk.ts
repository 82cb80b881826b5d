import type { ChangeDesk } from '../accounts/change-queue.ts';
import { createWebhookClient } from '../net/webhook-client.ts';
import { VERSION } from '../project.ts';
import type { DeliveryJob } from '../readers/delivery.ts';
import type { DispatcherTools } from '../readers/delivery-dispatcher.ts';
import { hostOf } from '../readers/webhook.ts';
import type { WebhookClient } from '../readers/webhook-desk.ts';
import type { Delta } from '../records/delta.ts';
import { deltaRow } from '../records/wire-rows.ts';
import { isoTime } from '../time.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';

/** The rules of telling changes wired to a workshop. */
export function openChangeDesk({ store, now }: AppContext): ChangeDesk<Delta> {
  const { records } = store;
  return {
    queue: store.changeQueue,
    mails: store.accountMails,
    accounts: store.accounts,
    deltasAfter: (seq, limit) => records.deltas({}, { limit, order: 'oldest', cursor: seq }),
    newest: () => records.newestDelta(),
    compose: (deltas, at) => eventOf('domain.changed', at, { changes: deltas.map(deltaRow) }),
    hostOf,
    transact: store.transact,
    now,
    newId,
  };
}

/** What a webhook is sent when somebody tries it. */
export function testEvent(alert: string, at: number): string {
  return eventOf('webhook.test', at, { alert });
}

function eventOf(type: string, at: number, data: object): string {
  return JSON.stringify({ type, timestamp: isoTime(at), data });
}

/** What the readers' courier needs to send to the webhooks of accounts. */
export function openChangeDispatcherTools({ store, settings, now }: AppContext): DispatcherTools<DeliveryJob> {
  return {
    deliveries: store.changeDeliveries,
    webhooks: store.changeWebhooks,
    groupCommit: store.groupCommit,
    now,
    allowsPrivate: settings.webhookPrivate,
    // An account reads it on its page.
    notify() {},
  };
}

/** Sends to the receivers that the settings allow. */
export function changeClientOf({ settings }: AppContext): WebhookClient {
  return createWebhookClient(`Broadsheet-Records/${VERSION} (+${settings.dataOrigin})`, settings.webhookPrivate);
}
