import type { Logger } from 'pino';
import { DELIVERIES_KEPT } from '../../readers/delivery.ts';
import { Dispatcher } from '../../readers/delivery-dispatcher.ts';
import { queueNext } from '../../readers/delivery-queue.ts';
import { EVENTS_KEPT } from '../../readers/event-table.ts';
import type { WebhookClient } from '../../readers/webhook-desk.ts';
import type { AppContext } from '../context.ts';
import { openWebhookDesk } from '../webhook-desk.ts';
import { hourly, poll } from './poll.ts';

/** How often the server looks for what happened and for what fell due, in ms. */
const LOOK_EVERY = 250;

/**
 * Tells webhooks: queues events, sends what is due, and drops what is old.
 * Returns a function that stops it when the requests under way are noted. Any
 * number of processes may do it over one database.
 */
export function startDeliveries(app: AppContext, client: WebhookClient, logger: Logger): () => Promise<void> {
  const desk = openWebhookDesk(app);
  const courier = new Dispatcher(desk, client, {
    attempted({ id, paper, webhook, type }, { status, error, ms }) {
      const about = { paper, delivery: id, webhook, type, status, error, ms: Math.round(ms) };
      if (error === null) logger.info(about, 'told a webhook');
      else logger.warn(about, 'a webhook was not told');
    },
    switchedOff({ paper, webhook, host }, reason) {
      logger.error(
        { paper, webhook, host, reason },
        'a webhook was switched off; a test or a retry that it takes switches it on',
      );
    },
    unnoted({ paper, id }, error) {
      logger.error({ paper, delivery: id, err: error }, 'an attempt could not be noted; it is made again');
    },
  });
  const dropOld = hourly((now) => {
    desk.deliveries.forget(now - DELIVERIES_KEPT);
    desk.events.forget(now - EVENTS_KEPT);
  });

  const look = (): number => {
    const isMore = queueNext(desk);
    courier.start();
    dropOld(desk.now());
    // A batch at a time: between two of them others have their turn.
    return isMore ? 0 : LOOK_EVERY;
  };
  const stop = poll(look, { job: 'webhooks', logger, failed: 'webhooks stand still; they are looked after again' });
  return async () => {
    await stop();
    await courier.stop();
  };
}
