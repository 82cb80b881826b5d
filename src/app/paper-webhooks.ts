import type { DeskEvent } from '../desk/event.ts';
import { paperRoot } from '../desk/paper.ts';
import type { DeliverySource } from '../outbound/dispatcher.ts';
import { Edition, siteOf } from '../press/edition.ts';
import { linksOf } from '../press/outputs/row-view.ts';
import type { PaperDeliveryJob } from '../readers/delivery.ts';
import { DELIVERIES_KEPT } from '../readers/delivery.ts';
import { EVENTS_KEPT } from '../readers/event-table.ts';
import { messageOf } from '../readers/webhook-message.ts';
import { queueNext } from '../readers/webhook-queue.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';
import type { WebhookService } from './jobs/webhooks.ts';
import { queueNotices } from './paper-mails.ts';

/** The webhooks of the papers: the desks' own and their readers'. */
export function paperWebhooks(app: AppContext): WebhookService {
  const { store } = app;
  return {
    job: 'webhooks',
    source: paperDeliveries(app),
    queueNext: () => queuePaperEvents(app),
    cleanUp(at) {
      store.deliveries.forget(at - DELIVERIES_KEPT);
      store.events.forget(at - EVENTS_KEPT);
    },
  };
}

export function paperDeliveries(app: AppContext): DeliverySource<PaperDeliveryJob> {
  const { deliveries, webhooks } = app.store;
  return { deliveries, webhooks, switchedOff: ({ paper }, at) => queueNotices(app, paper, at) };
}

/** Queues the next event of a paper, or the next batch of its receivers. Returns false when no event is left. */
export function queuePaperEvents({ store, settings, now }: AppContext): boolean {
  const compose = (event: DeskEvent): string => {
    const archive = store.archive(event.paper);
    const site = siteOf(paperRoot(archive.paper(), settings.origin));
    return messageOf(event, linksOf(new Edition(archive, site)));
  };
  return queueNext(store, { now, newId, compose });
}
