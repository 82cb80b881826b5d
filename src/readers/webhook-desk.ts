import type { DeskEvent } from '../desk/event.ts';
import type { Attempt, Claimed, DeliveryTable } from './delivery.ts';
import type { EventTable } from './event-table.ts';
import type { WebhookTable } from './webhook-table.ts';

/** Sends one request to a receiver. It never throws: what went wrong is in the answer. */
export interface WebhookClient {
  post(url: string, headers: Record<string, string>, body: string): Promise<Omit<Attempt, 'at'>>;
}

/** What the rules of webhooks work with. */
export interface WebhookDesk {
  events: EventTable;
  webhooks: WebhookTable;
  deliveries: DeliveryTable;
  /** Runs `work` as one transaction that nothing else of any process comes between. */
  transact<T>(work: () => T): T;
  /** Does a small write together with others, and resolves when it is on the disk. */
  groupCommit<T>(work: () => T): Promise<T>;
  /** The present time, in ms. */
  now(): number;
  newId(): string;
  /** n secure bytes. */
  random(n: number): Uint8Array;
  /** Whether receivers may be private and plain http. */
  readonly allowsPrivate: boolean;
  /** Tells those who run a paper that a webhook of it was switched off at a time (ms); part of that transaction. */
  notify(delivery: Claimed, at: number): void;
  /** What webhooks are sent of an event, as JSON. */
  compose(event: DeskEvent): string;
}
