import { dayOf } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import { newId } from '../../shared/new-id.ts';
import { type DeliverySource, Dispatcher } from '../../shared/outbound/dispatcher.ts';
import { deliveryTransport, type WebhookService } from '../../shared/outbound/webhook-job.ts';
import type { DeskEvent } from '../event.ts';
import { COUNTS_KEPT } from '../page-counts.ts';
import { paperRoot } from '../papers/paper.ts';
import { Edition, siteOf } from '../press/edition.ts';
import { linksOf } from '../press/outputs/frame.ts';
import { DELIVERIES_KEPT, type PaperDeliveryJob } from '../readers/delivery.ts';
import { EVENTS_KEPT } from '../readers/event-table.ts';
import { requireReceiver } from '../readers/webhook.ts';
import { messageOf, queueNext, queueTest } from '../readers/webhook-queue.ts';
import { queueNotices } from './paper-mails.ts';

/** The webhooks of the papers: the desks' own and their readers'. */
export function paperWebhooks(app: AppContext): WebhookService {
  const { store, settings } = app;
  return {
    job: 'webhooks',
    source: paperDeliveries(app),
    queueNext: () => queuePaperEvents(app),
    cleanUp(at) {
      store.desk.deliveries.forget(at - DELIVERIES_KEPT);
      store.desk.events.forget(at - EVENTS_KEPT);
      store.desk.activity.prune(at - settings.activityKept);
      store.desk.pageCounts.forget(dayOf(at - COUNTS_KEPT));
    },
  };
}

export function paperDeliveries(app: AppContext): DeliverySource<PaperDeliveryJob> {
  const { deliveries, webhooks } = app.store.desk;
  return { deliveries, webhooks, switchedOff: ({ paper }, at) => queueNotices(app, paper, at) };
}

/** Queues the next event of a paper, or the next batch of its receivers. Returns false when no event is left. */
export function queuePaperEvents({ store, settings, clock: { now } }: AppContext): boolean {
  const compose = (event: DeskEvent): string => {
    const archive = store.desk.archive(event.paper);
    const site = siteOf(paperRoot(archive.paper(), settings.origin));
    return messageOf(event, linksOf(new Edition(archive, site)));
  };
  return queueNext(store.desk, { now, newId, compose });
}

/** How often the outcome of a test is polled, and the interval in ms: in total longer than a request may take. */
const CHECKS_MAX = 120;
const PAUSE = 100;

/** Sends a test at once. Returns the delivery and its only attempt. Throws `not_found`, `unavailable`. */
export async function sendTest(app: AppContext, paper: string, id: string) {
  const { store } = app;
  const now = app.clock.now();
  const webhook = requireReceiver(store.desk, paper, id, now);
  const delivery = queueTest(store.desk, paper, webhook, { now, newId });
  const events = {
    attempted() {},
    switchedOff() {},
    unrecorded(_delivery: unknown, error: unknown) {
      throw error;
    },
  };
  await new Dispatcher(paperDeliveries(app), deliveryTransport(app, 'Broadsheet'), events).sendOne(delivery);
  const { status, error, ms } = await attemptOf(app, paper, delivery);
  return { delivery, status, error, ms };
}

/** Waits for the attempt, because another server on the database may have leased the delivery first. */
async function attemptOf({ store }: AppContext, paper: string, delivery: string) {
  for (let check = 0; check < CHECKS_MAX; check++) {
    const [attempt] = store.desk.deliveries.get(paper, delivery)?.attempts ?? [];
    if (attempt !== undefined) return attempt;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  throw new Fault('unavailable', 'the server took the test and did not report its outcome; see the server’s log');
}
