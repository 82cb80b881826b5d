import * as z from 'zod';
import { Fault } from '../fault.ts';
import { isoOrNull, isoTime } from '../time.ts';
import { ChoicesBody, choicesFrom } from './choices.ts';
import { newWebhookSecret, webhookProblem } from './webhook.ts';
import type { WebhookDesk } from './webhook-desk.ts';
import type { Receiver, Webhook, WebhookState } from './webhook-table.ts';

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

/** How many webhooks a desk may have of its own. */
export const WEBHOOKS_MAX = 200;

/**
 * Adds a webhook of the desk's own with a new secret; `sections` are the
 * paper's. Throws `invalid_request` naming the member, `conflict` when there are
 * too many.
 */
export function addWebhook(
  desk: WebhookDesk,
  paper: string,
  { url, ...chosen }: WebhookBody,
  sections: readonly string[],
): Webhook {
  const problem = webhookProblem(url, desk.allowsPrivate);
  if (problem !== null) {
    throw refusedFor('url', `${JSON.stringify(url.slice(0, 80))} ${problem}; give an https address on a public host`);
  }
  const choices = choicesFrom(chosen, sections);
  if ('unknown' in choices) {
    const name = JSON.stringify(choices.unknown.slice(0, 80));
    throw refusedFor('sections', `${name} is none of the paper’s; its sections are ${sections.join(', ')}`);
  }
  return desk.transact(() => {
    if (desk.webhooks.list(paper).length >= WEBHOOKS_MAX) {
      throw new Fault('conflict', `the paper has ${WEBHOOKS_MAX} webhooks, which is the most; remove one first`);
    }
    const webhook: Webhook = {
      id: desk.newId(),
      paper,
      url: new URL(url).href,
      secret: newWebhookSecret((n) => desk.random(n)),
      sections: choices.sections ?? null,
      cast: choices.cast ?? true,
      made_at: desk.now(),
    };
    desk.webhooks.add(webhook);
    return webhook;
  });
}

/** A webhook of the desk's own. Throws `not_found`. */
export function needWebhook({ webhooks }: WebhookDesk, paper: string, id: string): Webhook & WebhookState {
  const found = webhooks.get(paper, id);
  if (found !== null) return found;
  const message = `this paper has no webhook ${JSON.stringify(id.slice(0, 80))} of its own; GET /api/v1/webhooks lists them`;
  throw new Fault('not_found', message);
}

/** Whom a test may be sent to: a webhook of the desk's own, or a confirmed subscriber's. Throws `not_found`. */
export function needReceiver({ webhooks, transact, now }: WebhookDesk, paper: string, id: string): Receiver {
  const found = transact(() => {
    webhooks.register(paper, now());
    return webhooks.receiver(paper, id);
  });
  if (found !== null) return found;
  const message = `this paper has no webhook ${JSON.stringify(id.slice(0, 80))}, of its own or of a subscriber who has confirmed; GET /api/v1/webhooks and /api/v1/subscribers list them`;
  throw new Fault('not_found', message);
}

/** A webhook as an admin reads it, without its secret; `sections` are the paper's. */
export function webhookRow(webhook: Webhook & WebhookState, sections: readonly string[]) {
  const { id, url, cast, off_reason } = webhook;
  return {
    id,
    url,
    sections: webhook.sections ?? [...sections],
    cast,
    made_at: isoTime(webhook.made_at),
    failing_since: isoOrNull(webhook.failing_since),
    off_at: isoOrNull(webhook.off_at),
    off_reason,
  };
}

function refusedFor(field: string, message: string): Fault {
  return new Fault('invalid_request', `${field}: ${message}`, { field });
}
