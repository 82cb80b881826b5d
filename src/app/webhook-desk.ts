import { randomBytes } from 'node:crypto';
import { paperRoot } from '../desk/paper.ts';
import { createWebhookClient } from '../net/webhook-client.ts';
import { Edition, siteOf } from '../press/edition.ts';
import { linksOf } from '../press/outputs/row-view.ts';
import { VERSION } from '../project.ts';
import type { WebhookClient, WebhookDesk } from '../readers/webhook-desk.ts';
import { messageOf } from '../readers/webhook-message.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';
import { queueNotices } from './notice-desk.ts';

/** The rules of webhooks wired to a workshop. */
export function openWebhookDesk(app: AppContext): WebhookDesk {
  const { store, settings, now } = app;
  return {
    events: store.events,
    webhooks: store.webhooks,
    deliveries: store.deliveries,
    transact: store.transact,
    groupCommit: store.groupCommit,
    now,
    newId,
    random: randomBytes,
    allowsPrivate: settings.webhookPrivate,
    notify: ({ paper }, at) => queueNotices(app, paper, at),
    compose(event) {
      const archive = store.archive(event.paper);
      const place = siteOf(paperRoot(archive.paper(), settings.origin));
      return messageOf(event, linksOf(new Edition(archive, place)));
    },
  };
}

/** Sends to the receivers that the settings allow. */
export function webhookClientOf({ settings }: AppContext): WebhookClient {
  return createWebhookClient(`Broadsheet/${VERSION} (+${settings.origin})`, settings.webhookPrivate);
}
