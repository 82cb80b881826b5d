import type { Attempt, Claimed, DeliveryJob, DeliveryQueue } from './delivery.ts';
import { offReason, settlementOf } from './delivery.ts';
import { webhookProblem } from './webhook.ts';
import type { WebhookClient, WebhookDesk } from './webhook-desk.ts';
import { signatureHeaders } from './webhook-signature.ts';
import type { OffReason, WebhookStates } from './webhook-table.ts';

/** How many requests are under way at a time, in all and to one host. */
export const IN_FLIGHT_MAX = 64;
export const PER_HOST_MAX = 4;
/** For how long a delivery that was taken is its taker's alone, in ms: longer than a request may last. */
export const LEASE = 30_000;
/** How many of those that are due are looked at in one go. */
const WINDOW = 200;

/** What a courier works with: a paper's deliveries unless it is said otherwise. */
export interface DispatcherTools<D extends DeliveryJob = Claimed>
  extends Pick<WebhookDesk, 'groupCommit' | 'now' | 'allowsPrivate'> {
  deliveries: DeliveryQueue<D>;
  webhooks: WebhookStates;
  /** Tells those who run it that its webhook was switched off at a time (ms); part of that transaction. */
  notify(delivery: D, at: number): void;
}

/** What the courier tells whoever runs it. Nothing in it names a person, or holds an answer. */
export interface DispatcherEvents<D extends DeliveryJob = Claimed> {
  attempted(delivery: D, attempt: Attempt): void;
  switchedOff(delivery: D, reason: OffReason): void;
  /** What was sent could not be noted: it is sent again when its lease has ended. */
  unnoted(delivery: D, error: unknown): void;
}

/**
 * Sends what is due. A delivery is taken before it is sent and noted after: only
 * a crash between the two sends one again, under the same `webhook-id`. Hosts
 * do not hold each other up: each has a few places, and the rest go past it.
 */
export class Dispatcher<D extends DeliveryJob = Claimed> {
  readonly #desk: DispatcherTools<D>;
  readonly #client: WebhookClient;
  readonly #news: DispatcherEvents<D>;
  readonly #underWay = new Set<Promise<void>>();
  readonly #hosts = new Map<string, number>();
  #stopped = false;
  #isGoingOn = false;

  constructor(desk: DispatcherTools<D>, client: WebhookClient, news: DispatcherEvents<D>) {
    this.#desk = desk;
    this.#client = client;
    this.#news = news;
  }

  /** How many requests are under way. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Starts what is due as far as there is room; as each ends, the next one starts. */
  start(): void {
    const { deliveries, now } = this.#desk;
    while (!this.#stopped && this.#underWay.size < IN_FLIGHT_MAX) {
      const full = [...this.#hosts].flatMap(([host, count]) => (count < PER_HOST_MAX ? [] : [host]));
      const chosen = this.#choose(deliveries.due(now(), WINDOW, full));
      if (chosen.length === 0) return;
      const claimed = deliveries.claim(chosen, now(), now() + LEASE);
      for (const delivery of claimed) this.#begin(delivery);
      // Another process took them: what it left is looked for the next time.
      if (claimed.length === 0) return;
    }
  }

  /** Sends one delivery that is due, if nobody else has it, and resolves when it is noted. */
  async sendOne(id: string): Promise<void> {
    const now = this.#desk.now();
    const [claimed] = this.#desk.deliveries.claim([id], now, now + LEASE);
    if (claimed !== undefined) await this.#send(claimed);
  }

  /** Takes nothing more, and resolves when all that is under way is noted. A request ends by itself in a few seconds. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Resolves when nothing is under way and nothing more is begun. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0 || this.#isGoingOn) {
      await Promise.all(this.#underWay);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #choose(due: { id: string; host: string }[]): string[] {
    const counts = new Map(this.#hosts);
    const chosen: string[] = [];
    for (const { id, host } of due) {
      const count = counts.get(host) ?? 0;
      if (count >= PER_HOST_MAX) continue;
      if (chosen.length + this.#underWay.size >= IN_FLIGHT_MAX) break;
      counts.set(host, count + 1);
      chosen.push(id);
    }
    return chosen;
  }

  #begin(delivery: D): void {
    const { host } = delivery;
    this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + 1);
    const work = this.#send(delivery).finally(() => {
      this.#underWay.delete(work);
      const left = (this.#hosts.get(host) ?? 1) - 1;
      if (left === 0) this.#hosts.delete(host);
      else this.#hosts.set(host, left);
      this.#goOn();
    });
    this.#underWay.add(work);
  }

  /** Looks once for all that ended together. A database that fails here fails whoever starts the courier next, who is there to be told. */
  #goOn(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    setImmediate(() => {
      this.#isGoingOn = false;
      try {
        this.start();
      } catch {}
    });
  }

  async #send(delivery: D): Promise<void> {
    const { now } = this.#desk;
    const at = now();
    const attempt = { at, ...(await this.#request(delivery, at)) };
    try {
      const off = await this.#desk.groupCommit(() => this.#note(delivery, attempt));
      this.#news.attempted(delivery, attempt);
      if (off !== null) this.#news.switchedOff(delivery, off);
    } catch (error) {
      this.#news.unnoted(delivery, error);
    }
  }

  async #request({ url, secret, message, body }: D, at: number): Promise<Omit<Attempt, 'at'>> {
    if (url === null || secret === null) return { ms: 0, status: null, error: 'no_webhook' };
    // An address that was taken under other settings, or by an older program.
    if (webhookProblem(url, this.#desk.allowsPrivate) !== null) return { ms: 0, status: null, error: 'bad_address' };
    return this.#client.post(url, signatureHeaders(secret, message, body, at), body);
  }

  #note(delivery: D, attempt: Attempt): OffReason | null {
    const { deliveries, webhooks, now } = this.#desk;
    const { id, webhook, url } = delivery;
    const settlement = url === null ? { state: 'failed' as const } : settlementOf(delivery, attempt, now());
    if (!deliveries.settle(delivery, attempt, settlement)) return null;
    if (url === null) return null;
    if (settlement.state === 'delivered') {
      webhooks.took(webhook);
      return null;
    }
    const { since, isOff } = webhooks.failed(webhook, url, attempt.at);
    const firstAttempt = deliveries.firstAttempt(id) ?? attempt.at;
    const reason = offReason(delivery, attempt, settlement, { failingSince: since, firstAttempt });
    if (reason !== null && !isOff) {
      const at = now();
      webhooks.switchOff(webhook, url, reason, at);
      this.#desk.notify(delivery, at);
    }
    // Also what was under way while another attempt had it switched off.
    if (reason !== null || isOff) deliveries.giveUp(webhook, now());
    return isOff ? null : reason;
  }
}
