import * as z from 'zod';
import { DAY, isoOrNull, isoTime } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import type { OffReason, WebhookState, WebhookStates } from '../../shared/outbound/delivery.ts';
import { newWebhookSecret, webhookProblem } from '../../shared/outbound/webhook-url.ts';
import { ChoicesBody, choicesFrom } from './choices.ts';
import type { DeliveryTable } from './delivery.ts';
import type { Choices } from './subscriber.ts';

/** A webhook that is switched off. */
export interface WebhookOff {
  id: string;
  url: string;
  off_reason: OffReason;
  of_subscriber: boolean;
}

/** One of the desk's own webhooks. */
export interface Webhook {
  /** A lower-case ULID. */
  id: string;
  paper: string;
  url: string;
  /** `whsec_` and base64. */
  secret: string;
  /** Names of sections; null means all, including future ones. */
  sections: string[] | null;
  /** Whether to include the edition. */
  cast: boolean;
  made_at: number;
}

/** The state of one of the desk's own webhooks. Times in ms. */
export interface WebhookHealth extends WebhookState {
  /** Since when it is paused; null unless it is. */
  paused_at: number | null;
  /** Times of the last accepted delivery and the last failed attempt. */
  succeeded_at: number | null;
  failed_at: number | null;
  /** How many deliveries wait for it. */
  waiting: number;
  /** Until when the previous secret also signs. */
  old_secret_until: number | null;
}

/** The health of a new webhook. */
export const NEW_HEALTH: WebhookHealth = {
  ...{ failing_since: null, off_at: null, off_reason: null, paused_at: null, succeeded_at: null, failed_at: null },
  waiting: 0,
  old_secret_until: null,
};

/** A webhook that events are sent to. */
export type Receiver = Pick<Webhook, 'id' | 'url'>;

export interface WebhookTable extends WebhookStates {
  add(webhook: Webhook): void;
  /** Removes one of the desk's own webhooks, with its deliveries. False if it does not exist. */
  remove(paper: string, id: string): boolean;
  /** The desk's own webhooks, oldest first. */
  list(paper: string): (Webhook & WebhookHealth)[];
  get(paper: string, id: string): (Webhook & WebhookHealth) | null;
  /** Changes one of the desk's own webhooks. A new address clears its failures and switches it on. */
  change(paper: string, id: string, to: Pick<Webhook, 'url' | 'sections' | 'cast'>): void;
  /** Pauses one of the desk's own webhooks, or resumes it when `at` is null. False if nothing changes. */
  pause(paper: string, id: string, at: number | null): boolean;
  /** Gives one of the desk's own webhooks a new secret. The old one also signs until a time (ms). */
  replaceSecret(paper: string, id: string, secret: string, until: number): void;
  /** A webhook that accepts a test, on or off: the desk's own, or a confirmed subscriber's. */
  receiver(paper: string, id: string): Receiver | null;
  /** Registers the webhooks of confirmed subscribers. */
  register(paper: string, at: number): void;
  /**
   * Active receivers, including those of confirmed subscribers, of any of these sections; null selects those that
   * include the edition. Ordered by id, after a given one.
   */
  receivers(paper: string, sections: string[] | null, after: string, limit: number): Receiver[];
  /** A paper's webhooks that were switched off at or after a time (ms) and still are, oldest first. */
  offSince(paper: string, at: number): WebhookOff[];
}

/** The body of `POST /api/v1/webhooks`. */
export const WebhookBody = z
  .strictObject({
    url: z.string({ error: 'must be an https address' }).meta({ description: 'An https address on a public host.' }),
    sections: ChoicesBody.shape.sections,
    cast: ChoicesBody.shape.cast,
  })
  .meta({
    id: 'NewWebhookBody',
    example: { url: 'https://hooks.example.org/plumb-line', sections: ['Time'], cast: false },
  });
export type WebhookBody = z.infer<typeof WebhookBody>;

/** The body of `PUT /api/v1/webhooks/{id}`. */
export const WebhookChange = WebhookBody.partial()
  .safeExtend({
    paused: z.boolean({ error: 'must be true or false' }).optional().meta({
      description:
        'A paused webhook gets no events: what waits is given up, and what happens meanwhile is not sent later.',
    }),
  })
  .meta({ id: 'WebhookChange', example: { paused: true } });
export type WebhookChange = z.infer<typeof WebhookChange>;

/** How long the previous secret also signs, in ms. */
const OLD_SECRET_SIGNS = DAY;

/** Maximum number of the desk's own webhooks. */
const WEBHOOKS_MAX = 200;

/** The part of the store that these rules use. */
interface WebhookStore {
  webhooks: WebhookTable;
  transact<T>(work: () => T): T;
}

/** The time in ms and ids for a new webhook, and whether receivers may have private addresses and plain http. */
interface Fresh {
  now: number;
  newId(): string;
  allowsPrivate: boolean;
}

/** Adds a webhook of the desk. Throws `invalid_request` naming the member, `conflict` at the limit. */
export function addWebhook(
  { webhooks, transact }: WebhookStore,
  paper: string,
  { url, ...chosen }: WebhookBody,
  sections: readonly string[],
  { now, newId, allowsPrivate }: Fresh,
): Webhook {
  const address = requireAddress(url, allowsPrivate);
  const choices = requireChoices(chosen, sections);
  return transact(() => {
    if (webhooks.list(paper).length >= WEBHOOKS_MAX) {
      throw new Fault('conflict', `the paper has ${WEBHOOKS_MAX} webhooks, which is the maximum; remove one first`);
    }
    const webhook: Webhook = {
      id: newId(),
      paper,
      url: address,
      secret: newWebhookSecret(),
      sections: choices.sections ?? null,
      cast: choices.cast ?? true,
      made_at: now,
    };
    webhooks.add(webhook);
    return webhook;
  });
}

/**
 * Changes one of the desk's own webhooks, in its own transaction or in the caller's. Returns it, and the names of the
 * changed members. Throws `invalid_request` naming the member, `not_found`.
 */
export function changeWebhook(
  { webhooks, deliveries, transact }: WebhookStore & { deliveries: Pick<DeliveryTable, 'giveUp'> },
  paper: string,
  id: string,
  { url, paused, ...chosen }: WebhookChange,
  { sections, now, allowsPrivate }: { sections: readonly string[]; now: number; allowsPrivate: boolean },
): { webhook: Webhook & WebhookHealth; changed: string[] } {
  const address = url === undefined ? null : requireAddress(url, allowsPrivate);
  const choices = requireChoices(chosen, sections);
  return transact(() => {
    const before = requireWebhook(webhooks, paper, id);
    const after = { url: address ?? before.url, sections: before.sections, cast: before.cast, ...choices };
    webhooks.change(paper, id, after);
    const members = ['url', 'sections', 'cast'] as const;
    const changed: string[] = members.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
    if (paused !== undefined && webhooks.pause(paper, id, paused ? now : null)) changed.push('paused');
    if (paused) deliveries.giveUp(id, now);
    return { webhook: requireWebhook(webhooks, paper, id), changed };
  });
}

/** Gives one of the desk's own webhooks a new secret; the old one also signs for a day. Throws `not_found`. */
export function replaceWebhookSecret(
  { webhooks, transact }: WebhookStore,
  paper: string,
  id: string,
  now: number,
): Webhook & WebhookHealth {
  return transact(() => {
    requireWebhook(webhooks, paper, id);
    webhooks.replaceSecret(paper, id, newWebhookSecret(), now + OLD_SECRET_SIGNS);
    return requireWebhook(webhooks, paper, id);
  });
}

function requireAddress(url: string, allowsPrivate: boolean): string {
  const problem = webhookProblem(url, allowsPrivate);
  if (problem === null) return new URL(url).href;
  throw refusedFor('url', `${JSON.stringify(url.slice(0, 80))} ${problem}; give an https address on a public host`);
}

function requireChoices(chosen: Omit<WebhookBody, 'url'>, sections: readonly string[]): Partial<Choices> {
  const choices = choicesFrom(chosen, sections);
  if (!('unknown' in choices)) return choices;
  const name = JSON.stringify(choices.unknown.slice(0, 80));
  throw refusedFor('sections', `${name} is not a section of this paper; its sections are ${sections.join(', ')}`);
}

/** One of the desk's own webhooks. Throws `not_found`. */
export function requireWebhook(webhooks: WebhookTable, paper: string, id: string): Webhook & WebhookHealth {
  const found = webhooks.get(paper, id);
  if (found !== null) return found;
  const message = `this paper has no webhook ${JSON.stringify(id.slice(0, 80))} of its own; GET /api/v1/webhooks or the command \`webhook list\` lists them`;
  throw new Fault('not_found', message);
}

/** The receiver of a test: one of the desk's own webhooks, or a confirmed subscriber's. Throws `not_found`. */
export function requireReceiver(
  { webhooks, transact }: WebhookStore,
  paper: string,
  id: string,
  now: number,
): Receiver {
  const found = transact(() => {
    webhooks.register(paper, now);
    return webhooks.receiver(paper, id);
  });
  if (found !== null) return found;
  const message = `this paper has no webhook ${JSON.stringify(id.slice(0, 80))}, of its own or of a subscriber who has confirmed; GET /api/v1/webhooks (or the command \`webhook list\`) and /api/v1/subscribers list them`;
  throw new Fault('not_found', message);
}

/** A webhook as admins see it, without its secret; `sections` are the paper's. */
export function webhookRow(webhook: Webhook & WebhookHealth, sections: readonly string[]) {
  const { id, url, cast, off_reason, waiting } = webhook;
  return {
    id,
    url,
    sections: webhook.sections ?? [...sections],
    cast,
    made_at: isoTime(webhook.made_at),
    failing_since: isoOrNull(webhook.failing_since),
    off_at: isoOrNull(webhook.off_at),
    off_reason,
    paused_at: isoOrNull(webhook.paused_at),
    succeeded_at: isoOrNull(webhook.succeeded_at),
    failed_at: isoOrNull(webhook.failed_at),
    waiting,
  };
}

function refusedFor(field: string, message: string): Fault {
  return new Fault('invalid_request', `${field}: ${message}`, { field });
}
