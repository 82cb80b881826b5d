import { Fault } from '../fault.ts';
import { Dispatcher } from '../readers/delivery-dispatcher.ts';
import { queueTest } from '../readers/delivery-queue.ts';
import { needReceiver } from '../readers/webhook-body.ts';
import type { AppContext } from './context.ts';
import { openWebhookDesk, webhookClientOf } from './webhook-desk.ts';

/** How often the outcome of a test is looked for, and the pause between in ms: together longer than a request lasts. */
const LOOKS_MAX = 120;
const PAUSE = 100;

/** Sends a receiver a test now, and returns the delivery and its one attempt. Throws `not_found`, `unavailable`. */
export async function sendTest(app: AppContext, paper: string, id: string) {
  const desk = openWebhookDesk(app);
  const webhook = needReceiver(desk, paper, id);
  const delivery = queueTest(desk, paper, webhook);
  const events = {
    attempted() {},
    switchedOff() {},
    unnoted(_delivery: unknown, error: unknown) {
      throw error;
    },
  };
  await new Dispatcher(desk, webhookClientOf(app), events).sendOne(delivery);
  const { status, error, ms } = await attemptOf(app, paper, delivery);
  return { delivery, status, error, ms };
}

/** Waits for the attempt: a server on the same database may have claimed the delivery first. */
async function attemptOf({ store }: AppContext, paper: string, delivery: string) {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const [attempt] = store.deliveries.get(paper, delivery)?.attempts ?? [];
    if (attempt !== undefined) return attempt;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  throw new Fault('unavailable', 'the server took the test and did not report its outcome; see the server’s log');
}
