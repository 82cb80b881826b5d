import { eventSections } from '../desk/event.ts';
import { hostOf } from './webhook.ts';
import type { WebhookDesk } from './webhook-desk.ts';
import { testMessage } from './webhook-message.ts';
import type { Receiver } from './webhook-table.ts';

/** The name under which the webhooks' place among the events is kept. */
const MARK = 'webhooks';
/** To how many receivers a message is queued in one transaction: others want to write too. */
const BATCH = 200;

/**
 * Queues the next event, or the next batch of its receivers, and moves the mark
 * with it: whatever crashes, each receiver has each event queued once. The text
 * is made here, once, so that all get the same. False when no event is left.
 */
export function queueNext(desk: WebhookDesk): boolean {
  const { events, webhooks, deliveries, newId } = desk;
  // Looked at outside of a transaction: most looks find nothing.
  if (events.next(events.mark(MARK).n) === null) return false;
  return desk.transact(() => {
    const mark = events.mark(MARK);
    const event = events.next(mark.n);
    if (event === null) return false;
    const { id, paper, type } = event;
    const made_at = desk.now();
    if (mark.after === '') webhooks.register(paper, made_at);
    const receivers = webhooks.receivers({ paper, sections: eventSections(event) }, mark.after, BATCH);
    if (receivers.length > 0) deliveries.keepMessage({ id, type, body: desk.compose(event), made_at });
    for (const receiver of receivers) {
      deliveries.queue({ ...deliveryTo(receiver), id: newId(), paper, message: id, made_at, by_hand: false });
    }
    const last = receivers.length < BATCH ? undefined : receivers.at(-1);
    events.setMark(MARK, last === undefined ? { n: event.n, after: '' } : { n: mark.n, after: last.id });
    return true;
  });
}

/** Queues a test for a webhook, whether it is on or off: one attempt, now. Returns the delivery's id. */
export function queueTest(desk: WebhookDesk, paper: string, receiver: Receiver): string {
  const { deliveries, newId } = desk;
  return desk.transact(() => {
    const made_at = desk.now();
    const message = newId();
    deliveries.keepMessage({
      id: message,
      type: 'webhook.test',
      body: testMessage(paper, receiver.id, made_at),
      made_at,
    });
    const id = newId();
    deliveries.queue({ ...deliveryTo(receiver), id, paper, message, made_at, by_hand: true });
    return id;
  });
}

function deliveryTo({ id, url }: Receiver) {
  return { webhook: id, host: hostOf(url) };
}
