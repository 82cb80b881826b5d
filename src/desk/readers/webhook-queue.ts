import { isoTime } from '../../proof/time.ts';
import { eventBody, hostOf } from '../../shared/outbound/webhook-url.ts';
import { type DeskEvent, eventSections } from '../event.ts';
import { subjectNamed } from '../evidence.ts';
import { factUrl } from '../fact.ts';
import { castRow } from '../papers/cast.ts';
import { type Links, storyRow, storyUrl } from '../story.ts';
import { toReviseRow } from '../to-revise.ts';
import { noticeOf } from '../withdrawal.ts';
import type { DeliveryTable } from './delivery.ts';
import { advance, type EventTable } from './event-table.ts';
import type { Receiver, WebhookTable } from './webhook.ts';

/** The name of the cursor of webhooks in the events. */
const CURSOR = 'webhooks';
/** Receivers per transaction, which blocks other writers. */
const BATCH = 200;

/** The part of the store that queueing uses. */
interface WebhookStore {
  events: EventTable;
  webhooks: WebhookTable;
  deliveries: DeliveryTable;
  transact<T>(work: () => T): T;
}

/**
 * Queues the next event, or the next batch of its receivers. `compose` writes the body once, so that all receivers get
 * the same. False when no event is left.
 */
export function queueNext(
  store: WebhookStore,
  { now, newId, compose }: { now(): number; newId(): string; compose(event: DeskEvent): string },
): boolean {
  const { events, webhooks, deliveries } = store;
  return advance(store, CURSOR, (event, after) => {
    if (isWithheld(events, event)) return null;
    const { id, paper, type } = event;
    const made_at = now();
    if (after === '') webhooks.register(paper, made_at);
    const receivers = webhooks.receivers(paper, eventSections(event), after, BATCH);
    if (receivers.length > 0) deliveries.keepMessage({ id, type, body: compose(event), made_at });
    for (const receiver of receivers) {
      deliveries.queue({ ...deliveryTo(receiver), id: newId(), paper, message: id, made_at, by_hand: false });
    }
    return receivers.length < BATCH ? null : (receivers.at(-1)?.id ?? null);
  });
}

/** Whether an event contains a headline that its desk now withholds. */
function isWithheld(events: EventTable, event: DeskEvent): boolean {
  if (event.type === 'fact.to_revise') {
    const of = subjectNamed(event.found.subject);
    return 'piece' in of && events.isWithheld(of.piece);
  }
  if (!('story' in event) || (event.type === 'story.withdrawn' && event.headline_withheld)) return false;
  return events.isWithheld(event.story.id);
}

/** Queues a test for a webhook, on or off: one immediate attempt. Returns the delivery's id. */
export function queueTest(
  { deliveries, transact }: Pick<WebhookStore, 'deliveries' | 'transact'>,
  paper: string,
  receiver: Receiver,
  { now, newId }: { now: number; newId(): string },
): string {
  return transact(() => {
    const message = newId();
    const type = 'webhook.test';
    const body = eventBody(type, now, { paper, webhook: receiver.id });
    deliveries.keepMessage({ id: message, type, body, made_at: now });
    const id = newId();
    deliveries.queue({ ...deliveryTo(receiver), id, paper, message, made_at: now, by_hand: true });
    return id;
  });
}

function deliveryTo({ id, url }: Receiver) {
  return { webhook: id, host: hostOf(url) };
}

/** The body of an event's webhook message. `links` are the paper's. */
export function messageOf(event: DeskEvent, links: Links): string {
  return eventBody(event.type, event.at, dataOf(event, links));
}

function dataOf(event: DeskEvent, links: Links): object {
  if (event.type === 'cast.published') return castRow(event.cast, links.root);
  if (event.type === 'fact.corrected') return { ...event.fact, url: factUrl(links.root, event.fact.claim_key) };
  if (event.type === 'fact.to_revise') {
    const { found, slug } = event;
    const url = slug === null ? factUrl(links.root, found.subject) : storyUrl(links.root, slug);
    return { ...toReviseRow(found), url };
  }
  const row = storyRow(event.story, links);
  // Every byline shown declares an AI author.
  if (event.type !== 'story.withdrawn') return { ...row, byline: { ...row.byline, declared_ai: true } };
  const named = noticeOf({ ...event.story, headline_withheld: event.headline_withheld });
  return {
    id: row.id,
    ...(named === null ? { headline_withheld: true } : { slug: named.slug, url: storyUrl(links.root, named.slug) }),
    withdrawn_at: isoTime(event.at),
    reason: event.reason,
  };
}
