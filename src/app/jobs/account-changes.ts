import type { Logger } from 'pino';
import { queueChangeMails, queueChanges } from '../../accounts/change-queue.ts';
import type { DeliveryJob } from '../../readers/delivery.ts';
import { Dispatcher } from '../../readers/delivery-dispatcher.ts';
import type { WebhookClient } from '../../readers/webhook-desk.ts';
import { DAY } from '../../time.ts';
import { openChangeDesk, openChangeDispatcherTools } from '../change-desk.ts';
import type { AppContext } from '../context.ts';
import { hourly, poll } from './poll.ts';

/** How often the job looks for changes and for what fell due, in ms. */
const LOOK_EVERY = 250;
/** How long the job rests between two batches, in ms: who asks the server is answered meanwhile. */
const BREATH = 2;
/** For how long what was told is kept, in ms. */
const KEPT = 35 * DAY;

/**
 * Tells accounts what changed: queues mails, which are sent by their own job,
 * and sends to webhooks. Returns a function that stops it when the requests under
 * way are noted. Any number of processes may do it over one database.
 */
export function startAccountChanges(app: AppContext, client: WebhookClient, logger: Logger): () => Promise<void> {
  const desk = openChangeDesk(app);
  const courier = new Dispatcher<DeliveryJob>(openChangeDispatcherTools(app), client, {
    attempted({ id, webhook, type }, { status, error, ms }) {
      const about = { delivery: id, alert: webhook, type, status, error, ms: Math.round(ms) };
      if (error === null) logger.info(about, 'told an account’s webhook');
      else logger.warn(about, 'an account’s webhook was not told');
    },
    switchedOff({ webhook, host }, reason) {
      logger.error({ alert: webhook, host, reason }, 'an account’s webhook was switched off');
    },
    unnoted({ id }, error) {
      logger.error({ delivery: id, err: error }, 'an attempt could not be noted; it is made again');
    },
  });
  const dropOld = hourly((now) => desk.queue.forget(now - KEPT));

  const look = (): number => {
    const isMore = queueChanges(desk);
    // What a sleep left behind is told together: mails wait until all of it was looked through.
    if (!isMore) queueChangeMails(desk);
    courier.start();
    dropOld(desk.now());
    return isMore ? BREATH : LOOK_EVERY;
  };
  const stop = poll(look, {
    job: 'changes to accounts',
    logger,
    failed: 'changes are told to nobody just now; it is tried again',
  });
  return async () => {
    await stop();
    await courier.stop();
  };
}
