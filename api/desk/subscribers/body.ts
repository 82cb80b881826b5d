import type { z } from '@hono/zod-openapi';
import { type ChoicesBody, choicesFrom } from '../../../src/desk/readers/choices.ts';
import { type ReaderTables, subscribe, subscribeByAdmin } from '../../../src/desk/readers/subscribe.ts';
import { type Choices, DEFAULT_CHOICES } from '../../../src/desk/readers/subscriber.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { type Address, readAddress, readerOf } from '../../../src/shared/outbound/mail-address.ts';
import { webhookProblem } from '../../../src/shared/outbound/webhook-url.ts';
import { shapeProblems } from '../../../src/shared/shape.ts';
import type { PaperContext } from '../../env.ts';
import { formFields, isMultipart, isUrlencoded } from '../../middleware/form-body.ts';
import { isJson, parseJson, requireUncompressed } from '../../middleware/json-body.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { privateJson } from '../../responses/send.ts';
import { type Writer, write } from '../writing/write.ts';
import { AdminOrder, Order } from './schemas.ts';

/** A request body: a JSON record, or form fields with all values of each. */
export type SentBody = { json: unknown; form: null } | { json: null; form: Map<string, string[]> };

/** The fault of one field of a body. */
const invalid = (field: string, message: string): Fault => new Fault('invalid_request', message, { field });

/** Whether a request carries a form, such as a page's own. */
export function isForm(c: PaperContext): boolean {
  return isUrlencoded(c.req.header('content-type') ?? '');
}

/** Reads a JSON or form body; empty without a type is a form. Throws `unsupported_media_type`, `invalid_request`. */
export async function readBody(c: PaperContext, { mayBeMultipart = false } = {}): Promise<SentBody> {
  requireUncompressed(c);
  const type = c.req.header('content-type') ?? '';
  if (isJson(type)) return { json: parseJson(new Uint8Array(await c.req.arrayBuffer())), form: null };
  if (isUrlencoded(type)) return { json: null, form: fieldsOf(formFields(await c.req.text())) };
  if (mayBeMultipart && isMultipart(type)) {
    try {
      return { json: null, form: fieldsOf(await c.req.formData()) };
    } catch {
      throw invalid(
        'body',
        'the body is not valid multipart/form-data, although Content-Type says so; send a well-formed form',
      );
    }
  }
  if (type === '' && (await c.req.arrayBuffer()).byteLength === 0) return { json: null, form: new Map() };
  throw new Fault(
    'unsupported_media_type',
    `the body is ${type === '' ? 'of no type' : JSON.stringify(type.slice(0, 100))}; send JSON or application/x-www-form-urlencoded, and say which in Content-Type`,
  );
}

/** The only value of a form field; undefined when it is absent. Throws `invalid_request` for a repeated field. */
export function onlyField(form: Map<string, string[]>, name: string): string | undefined {
  const [value, another] = form.get(name) ?? [];
  if (another === undefined) return value;
  throw invalid(name, `${name} came more than once; send it once`);
}

/** The choices of a form. Browsers leave unticked boxes out, so `boxes` names the form's. Throws `invalid_request`. */
function choiceFields(form: Map<string, string[]>): Record<string, unknown> {
  const boxes = (onlyField(form, 'boxes') ?? '').split(' ');
  const sections = form.get('sections');
  if (sections === undefined && boxes.includes('sections')) {
    throw invalid('sections', 'sections: none is ticked; tick one or more');
  }
  const cast = tickedField(form, 'cast');
  return { cadence: onlyField(form, 'cadence'), sections, cast: cast ?? (boxes.includes('cast') ? false : undefined) };
}

/** A validated body with choices and one more member. Throws `invalid_request`. */
export function validChoices<T extends z.ZodType>(schema: T, { json, form }: SentBody, name: string): z.infer<T> {
  return validated(schema, form === null ? json : { [name]: onlyField(form, name), ...choiceFields(form) });
}

/** Whether a box is ticked; undefined when the form does not have it. Throws `invalid_request`. */
function tickedField(form: Map<string, string[]>, name: string): boolean | undefined {
  const value = onlyField(form, name);
  if (value === undefined) return undefined;
  if (value === 'true' || value === 'on') return true;
  if (value === 'false') return false;
  throw invalid(name, `${name}: ${JSON.stringify(value.slice(0, 80))} must be true or false`);
}

/** Validates a value. Throws `invalid_request` naming the invalid member: the list rather than its item. */
export function validated<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [problem] = shapeProblems(parsed.error, value);
  const field = problem?.field.replace(/\[.*$/, '') ?? 'body';
  throw invalid(field, `${problem?.field}: ${problem?.message}`);
}

function fieldsOf(entries: Iterable<[string, FormDataEntryValue]>): Map<string, string[]> {
  const fields = Map.groupBy(entries, ([name]) => name).entries();
  // None of these forms accepts a file.
  return new Map(fields.map(([name, all]) => [name, all.map(([, value]) => (typeof value === 'string' ? value : ''))]));
}

/** Accepts a reader's subscription request. Throws `invalid_request` naming the invalid member. */
export function takeOrder({ store, clock }: AppContext, c: PaperContext, sent: SentBody): void {
  const { email, ...body } = validChoices(Order, sent, 'email');
  const address = readAddress(email);
  if ('problem' in address) {
    const message = `email: ${JSON.stringify(email.slice(0, 80))} ${address.problem}; give an address such as name@example.org`;
    throw invalid('email', message);
  }
  const choices = choicesOf(c, body);
  subscribe(store.desk, c.get('site').slug, address, { ...DEFAULT_CHOICES, ...choices }, { now: clock.now(), newId });
}

/** Accepts an admin's order for several addresses. Throws `key_required`, `level_too_low`, `invalid_request`. */
export async function takeAdminOrder(writer: Writer, c: PaperContext, json: unknown) {
  requireKeyOfLevel(c.get('key'), 'admin');
  const { emails, webhook, ...body } = validated(AdminOrder, json);
  const choices = choicesOf(c, body);
  const problem = webhook == null ? null : webhookProblem(webhook, writer.app.settings.webhookPrivate);
  if (problem !== null) {
    const message = `webhook: ${JSON.stringify(webhook?.slice(0, 80))} ${problem}; give an https address on a public host`;
    throw invalid('webhook', message);
  }
  const { slug } = c.get('site');
  const { store, clock } = writer.app;
  const addresses = emails.map(readAddress);
  const { body: taken, init } = await write(writer, c, () => {
    const results = addresses.map((address) => {
      if ('problem' in address) return { status: 'invalid', message: `this ${address.problem}` };
      return { status: subscribeByAdmin(store.desk, slug, address, { choices, webhook }, { now: clock.now(), newId }) };
    });
    // The response that is stored for retries contains neither addresses nor secrets.
    const invited = results.filter(({ status }) => status === 'pending').length;
    const detail = { invited, webhook: webhook != null };
    return { status: 200, body: { results }, did: [{ action: 'subscribers.invited', detail }] };
  });
  const { results, ...rest } = taken;
  const whole = results.map((result, at) => ({
    email: emails[at],
    ...result,
    ...(webhook == null ? {} : secretOf(store.desk.readers, slug, addresses[at])),
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
  throw invalid('sections', message);
}
