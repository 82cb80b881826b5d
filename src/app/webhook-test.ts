import { Fault } from '../fault.ts';
import { Dispatcher } from '../outbound/dispatcher.ts';
import { queueTest } from '../readers/webhook-queue.ts';
import { requireReceiver } from '../readers/webhook-rules.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';
import { deliveryTransport } from './jobs/webhooks.ts';
import { paperDeliveries } from './paper-webhooks.ts';

/**
 * The most checks for the outcome of a test, and the pause between them in ms. Together they exceed the timeout of a
 * request.
 */
const CHECKS_MAX = 120;
const PAUSE = 100;

/**
 * Sends a test to a receiver at once, and returns the delivery and its only attempt. Throws `not_found` or
 * `unavailable`.
 */
export async function sendTest(app: AppContext, paper: string, id: string) {
  const { store, now } = app;
  const webhook = requireReceiver(store, paper, id, now());
  const delivery = queueTest(store, paper, webhook, { now: now(), newId });
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

/** Waits for the attempt, because another server on the database may have claimed the delivery first. */
async function attemptOf({ store }: AppContext, paper: string, delivery: string) {
  for (let check = 0; check < CHECKS_MAX; check++) {
    const [attempt] = store.deliveries.get(paper, delivery)?.attempts ?? [];
    if (attempt !== undefined) return attempt;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  throw new Fault('unavailable', 'the server took the test and did not report its outcome; see the server’s log');
}
