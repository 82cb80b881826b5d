import type { Logger } from 'pino';
import type { AppContext } from '../../server/context.ts';
import { createWebhookClient } from '../net/outbound-client.ts';
import { VERSION } from '../project.ts';
import { measurements } from '../workers/measurements.ts';
import { BATCH_PAUSE, hourly, POLL_EVERY, poll } from '../workers/poll.ts';
import type { DeliveryJob } from './delivery.ts';
import { type DeliveryEvents, type DeliverySource, type DeliveryTransport, Dispatcher } from './dispatcher.ts';

/** The fields of a delivery that are logged. */
interface LoggedDelivery extends DeliveryJob {
  paper?: string;
}

/** The webhooks of one service. */
export interface WebhookService {
  job: string;
  source: DeliverySource<LoggedDelivery>;
  /** Queues deliveries for the next batch of events. Returns false when none are left. */
  queueNext(): boolean;
  /** Deletes old rows; `at` is the current time, in ms. */
  cleanUp(at: number): void;
}

/**
 * Queues and sends a service's webhooks, in any number of processes. Returns a function that stops it after the
 * requests in flight.
 */
export function startWebhooks(
  app: AppContext,
  { job, source, queueNext, cleanUp }: WebhookService,
  transport: DeliveryTransport,
  logger: Logger,
): () => Promise<void> {
  const dispatcher = new Dispatcher(source, transport, deliveryLog(logger, job));
  const sweep = hourly(app, cleanUp);
  const round = (): number => {
    const isMore = queueNext();
    dispatcher.start();
    sweep(app.clock.now());
    return isMore ? BATCH_PAUSE : POLL_EVERY;
  };
  const stop = poll(round, { job, logger, failed: 'the job failed; it is retried' });
  return async () => {
    await stop();
    await dispatcher.stop();
  };
}

/** Sends to the receivers that the settings allow, on behalf of a paper's desk or of the domain records. */
export function deliveryTransport(
  { store, settings, clock: { now } }: AppContext,
  service: 'Broadsheet' | 'Broadsheet-Records',
): DeliveryTransport {
  const origin = service === 'Broadsheet' ? settings.origin : settings.dataOrigin;
  const allowsPrivate = settings.webhookPrivate;
  const client = createWebhookClient(`${service}/${VERSION} (+${origin})`, allowsPrivate);
  // A delivery that is not recorded is sent again.
  return {
    client,
    allowsPrivate,
    now,
    groupCommit: (work) => store.database.groupCommit(work, Number.POSITIVE_INFINITY),
  };
}

function deliveryLog(logger: Logger, job: string): DeliveryEvents<LoggedDelivery> {
  const about = ({ paper, id, webhook, type }: LoggedDelivery) => ({ job, paper, delivery: id, webhook, type });
  return {
    attempted(delivery, { status, error, ms }) {
      const fields = { ...about(delivery), status, error, ms: Math.round(ms) };
      measurements.emit('delivery', { queue: job, outcome: error === null ? 'delivered' : 'refused', ms });
      if (error === null) logger.info(fields, 'delivered to a webhook');
      else logger.warn(fields, 'a webhook did not accept a delivery');
    },
    switchedOff(delivery, reason) {
      measurements.emit('delivery', { queue: job, outcome: 'switched_off', ms: 0 });
      logger.error(
        { ...about(delivery), host: delivery.host, reason },
        'switched a webhook off; a test or a retry that it accepts switches it on',
      );
    },
    unrecorded: (delivery, error) =>
      logger.error({ ...about(delivery), err: error }, 'an attempt could not be recorded; it is made again'),
  };
}
