import type { AppContext } from '../../../src/app/context.ts';
import { newId } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { webhookProblem } from '../../../src/outbound/webhook-url.ts';
import type { Address } from '../../../src/readers/address.ts';
import { readAddress, readerOf } from '../../../src/readers/address.ts';
import type { ChoicesBody } from '../../../src/readers/choices.ts';
import { choicesFrom } from '../../../src/readers/choices.ts';
import type { ReaderTables } from '../../../src/readers/reader-tables.ts';
import { subscribe, subscribeByAdmin } from '../../../src/readers/subscribe.ts';
import type { Choices } from '../../../src/readers/subscriber.ts';
import { DEFAULT_CHOICES } from '../../../src/readers/subscriber.ts';
import type { PaperContext } from '../../env.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { privateJson } from '../../responses/send.ts';
import type { Writer } from '../writing/write.ts';
import { write } from '../writing/write.ts';
import type { SentBody } from './body.ts';
import { choiceFields, onlyField, validated } from './body.ts';
import { AdminOrder, Order } from './schemas.ts';

/** Accepts a reader's subscription request. Throws `invalid_request` naming the invalid member. */
export function takeOrder({ store, now }: AppContext, c: PaperContext, sent: SentBody): void {
  const { email, ...body } = validated(
    Order,
    sent.form === null ? sent.json : { email: onlyField(sent.form, 'email'), ...choiceFields(sent.form) },
  );
  const address = readAddress(email);
  if ('problem' in address) {
    const message = `email: ${JSON.stringify(email.slice(0, 80))} ${address.problem}; give an address such as name@example.org`;
    throw new Fault('invalid_request', message, { field: 'email' });
  }
  const choices = choicesOf(c, body);
  subscribe(store, c.get('site').slug, address, { ...DEFAULT_CHOICES, ...choices }, { now: now(), newId });
}

/**
 * Accepts an admin's subscription request for up to twenty addresses. Throws `key_required`, `level_too_low`,
 * `invalid_request`.
 */
export async function takeAdminOrder(writer: Writer, c: PaperContext, json: unknown) {
  requireKeyOfLevel(c.get('key'), 'admin');
  const { emails, webhook, ...body } = validated(AdminOrder, json);
  const choices = choicesOf(c, body);
  const problem = webhook == null ? null : webhookProblem(webhook, writer.app.settings.webhookPrivate);
  if (problem !== null) {
    const message = `webhook: ${JSON.stringify(webhook?.slice(0, 80))} ${problem}; give an https address on a public host`;
    throw new Fault('invalid_request', message, { field: 'webhook' });
  }
  const { slug } = c.get('site');
  const { store, now } = writer.app;
  const addresses = emails.map(readAddress);
  const { body: taken, init } = await write(writer, c, () => {
    const results = addresses.map((address) => {
      if ('problem' in address) return { status: 'invalid', message: `this ${address.problem}` };
      return { status: subscribeByAdmin(store, slug, address, { choices, webhook }, { now: now(), newId }) };
    });
    // The response that is stored for retries contains neither addresses nor secrets.
    return { status: 200, body: { results } };
  });
  const { results, ...rest } = taken;
  const whole = results.map((result, at) => ({
    email: emails[at],
    ...result,
    ...(webhook == null ? {} : secretOf(store.readers, slug, addresses[at])),
  }));
  return privateJson(c, { results: whole, ...rest }, init.status);
}

/** The secret of a reader's webhook, if the request gave the reader one. */
function secretOf({ subscribers }: ReaderTables, paper: string, address: Address | { problem: string } | undefined) {
  if (address === undefined || 'problem' in address) return {};
  const secret = subscribers.of(paper, readerOf(paper, address))?.webhook_secret ?? null;
  return secret === null ? {} : { webhook_secret: secret };
}

/** The choices in a body. Throws `invalid_request` for a section that the paper does not have. */
export function choicesOf(c: PaperContext, body: ChoicesBody): Partial<Choices> {
  const { sections } = c.get('site').paper;
  const choices = choicesFrom(body, sections);
  if (!('unknown' in choices)) return choices;
  const message = `sections: ${JSON.stringify(choices.unknown.slice(0, 80))} is not a section of this paper; its sections are ${sections.join(', ')}`;
  throw new Fault('invalid_request', message, { field: 'sections' });
}
