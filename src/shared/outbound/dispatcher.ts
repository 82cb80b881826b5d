import { createHmac } from 'node:crypto';
import type { Attempt, DeliveryJob, DeliveryQueue, OffReason, WebhookClient, WebhookStates } from './delivery.ts';
import { offReason, settlementOf } from './retry.ts';
import { webhookProblem } from './webhook-url.ts';

/** The most requests in flight, in total and to one host. */
export const IN_FLIGHT_MAX = 64;
export const PER_HOST_MAX = 4;
/** How long a lease lasts, in ms: longer than a request can take. */
export const LEASE_TIME = 30_000;
/** The most due deliveries considered per round. */
const WINDOW = 200;

/** A queue of deliveries, and their webhooks. */
export interface DeliverySource<D extends DeliveryJob> {
  deliveries: DeliveryQueue<D>;
  webhooks: WebhookStates;
  /** Notifies the owner that a webhook was switched off at a time (ms), within the same transaction. */
  switchedOff?(delivery: D, at: number): void;
}

/** The dependencies of the dispatcher. */
export interface DeliveryTransport {
  client: WebhookClient;
  /** Whether receivers may be private and plain http. */
  allowsPrivate: boolean;
  now(): number;
  /** Runs a small write in a shared transaction, and resolves when it is on disk. */
  groupCommit<T>(work: () => T): Promise<T>;
}

/** Events of the dispatcher. None of them names a person or contains a response. */
export interface DeliveryEvents<D extends DeliveryJob> {
  attempted(delivery: D, attempt: Attempt): void;
  switchedOff(delivery: D, reason: OffReason): void;
  /** The attempt could not be recorded, so the delivery is sent again when its lease ends. */
  unrecorded(delivery: D, error: unknown): void;
}

/**
 * Sends due deliveries. A delivery is leased before it is sent and recorded after, so that only a crash in between
 * sends one twice, under the same `webhook-id`. A slow host delays no other: each host has a few slots, and other
 * deliveries overtake.
 */
export class Dispatcher<D extends DeliveryJob> {
  readonly #source: DeliverySource<D>;
  readonly #transport: DeliveryTransport;
  readonly #events: DeliveryEvents<D>;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #hosts = new Map<string, number>();
  #stopped = false;
  #isContinuing = false;

  constructor(source: DeliverySource<D>, transport: DeliveryTransport, events: DeliveryEvents<D>) {
    this.#source = source;
    this.#transport = transport;
    this.#events = events;
  }

  /** The number of requests in flight. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Starts as many due deliveries as possible. When one ends, the next one starts. */
  start(): void {
    const { deliveries } = this.#source;
    const { now } = this.#transport;
    while (!this.#stopped && this.#inFlight.size < IN_FLIGHT_MAX) {
      const full = [...this.#hosts].flatMap(([host, count]) => (count < PER_HOST_MAX ? [] : [host]));
      const chosen = this.#choose(deliveries.due(now(), WINDOW, full));
      if (chosen.length === 0) return;
      const leased = deliveries.lease(chosen, now(), now() + LEASE_TIME);
      for (const delivery of leased) this.#begin(delivery);
      // Another process leased them; the next poll finds what is left.
      if (leased.length === 0) return;
    }
  }

  /** Sends one due delivery, unless another process has it, and resolves when it is recorded. */
  async sendOne(id: string): Promise<void> {
    const now = this.#transport.now();
    const [leased] = this.#source.deliveries.lease([id], now, now + LEASE_TIME);
    if (leased !== undefined) await this.#send(leased);
  }

  /** Stops claiming, and resolves when everything in flight is recorded. A request ends within a few seconds. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Resolves when nothing is in flight and nothing more starts. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0 || this.#isContinuing) {
      await Promise.all(this.#inFlight);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #choose(due: { id: string; host: string }[]): string[] {
    const counts = new Map(this.#hosts);
    const chosen: string[] = [];
    for (const { id, host } of due) {
      const count = counts.get(host) ?? 0;
      if (count >= PER_HOST_MAX) continue;
      if (chosen.length + this.#inFlight.size >= IN_FLIGHT_MAX) break;
      counts.set(host, count + 1);
      chosen.push(id);
    }
    return chosen;
  }

  #begin(delivery: D): void {
    const { host } = delivery;
    this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + 1);
    const work = this.#send(delivery).finally(() => {
      this.#inFlight.delete(work);
      const left = (this.#hosts.get(host) ?? 1) - 1;
      if (left === 0) this.#hosts.delete(host);
      else this.#hosts.set(host, left);
      this.#continue();
    });
    this.#inFlight.add(work);
  }

  /** Polls once for all requests that ended together. A database error recurs in the next `start()`. */
  #continue(): void {
    if (this.#isContinuing) return;
    this.#isContinuing = true;
    setImmediate(() => {
      this.#isContinuing = false;
      try {
        this.start();
      } catch {}
    });
  }

  async #send(delivery: D): Promise<void> {
    const { now, groupCommit } = this.#transport;
    const at = now();
    const attempt = { at, ...(await this.#request(delivery, at)) };
    try {
      const off = await groupCommit(() => this.#record(delivery, attempt));
      this.#events.attempted(delivery, attempt);
      if (off !== null) this.#events.switchedOff(delivery, off);
    } catch (error) {
      this.#events.unrecorded(delivery, error);
    }
  }

  async #request(delivery: D, at: number): Promise<Omit<Attempt, 'at'>> {
    const { url, secret, message, body, old_secret = null, old_secret_until } = delivery;
    const { client, allowsPrivate } = this.#transport;
    if (url === null || secret === null) return { ms: 0, status: null, error: 'no_webhook' };
    // The address was accepted under other settings, or by an older version.
    if (webhookProblem(url, allowsPrivate) !== null) return { ms: 0, status: null, error: 'bad_address' };
    const old = at < (old_secret_until ?? 0) ? old_secret : null;
    return client.post(url, signatureHeaders(secret, message, body, at, old), body);
  }

  #record(delivery: D, attempt: Attempt): OffReason | null {
    const { deliveries, webhooks, switchedOff } = this.#source;
    const { now } = this.#transport;
    const { id, webhook, url } = delivery;
    const settlement = url === null ? { state: 'failed' as const } : settlementOf(delivery, attempt, now());
    if (!deliveries.settle(delivery, attempt, settlement)) return null;
    if (url === null) return null;
    if (settlement.state === 'delivered') {
      webhooks.succeeded(webhook, attempt.at);
      return null;
    }
    const { since, isOff } = webhooks.failed(webhook, url, attempt.at);
    const firstAttempt = deliveries.firstAttempt(id) ?? attempt.at;
    const reason = offReason(delivery, attempt, settlement, { failingSince: since, firstAttempt });
    if (reason !== null && !isOff) {
      const at = now();
      webhooks.switchOff(webhook, url, reason, at);
      switchedOff?.(delivery, at);
    }
    // Includes what was in flight while another attempt switched the webhook off.
    if (reason !== null || isOff) deliveries.giveUp(webhook, now());
    return isOff ? null : reason;
  }
}

const PREFIX = 'whsec_';

/**
 * The headers that authenticate a delivery (protocol 10): the three of Standard Webhooks, and `X-NRF-Signature: t=<unix
 * seconds>,v1=<hex HMAC-SHA-256 of "t.body">`. Both use the same key: the bytes that the secret's base64 encodes. `at`
 * is the time of the attempt, in ms. With the secret before it, `webhook-signature` has a second signature.
 */
export function signatureHeaders(
  secret: string,
  id: string,
  body: string,
  at: number,
  old: string | null = null,
): Record<string, string> {
  const seconds = Math.floor(at / 1000);
  const standard = (by: string) => `v1,${mac(by, `${id}.${seconds}.${body}`).toString('base64')}`;
  return {
    'X-NRF-Signature': `t=${seconds},v1=${mac(secret, `${seconds}.${body}`).toString('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': old === null ? standard(secret) : `${standard(secret)} ${standard(old)}`,
  };
}

function mac(secret: string, text: string): Buffer {
  return createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(text)
    .digest();
}
