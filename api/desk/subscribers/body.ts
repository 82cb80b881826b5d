import type { z } from '@hono/zod-openapi';
import { Fault } from '../../../src/fault.ts';
import { shapeProblems } from '../../../src/ledger/shape.ts';
import type { PaperContext } from '../../env.ts';
import { formFields, isMultipart, isUrlencoded } from '../../middleware/form-body.ts';
import { parseJson, requireUncompressed } from '../../middleware/json-body.ts';

/** A request body: a JSON record, or form fields with all values of each. */
export type SentBody = { json: unknown; form: null } | { json: null; form: Map<string, string[]> };

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i;

/** Whether a request carries a form, such as a page's own. */
export function isForm(c: PaperContext): boolean {
  return isUrlencoded(c.req.header('content-type') ?? '');
}

/**
 * Reads a JSON or form body. An empty body without a type is a form without fields. Throws `unsupported_media_type`,
 * `invalid_request`.
 */
export async function readBody(c: PaperContext, { mayBeMultipart = false } = {}): Promise<SentBody> {
  requireUncompressed(c);
  const type = c.req.header('content-type') ?? '';
  if (JSON_TYPE.test(type)) return { json: parseJson(new Uint8Array(await c.req.arrayBuffer())), form: null };
  if (isUrlencoded(type)) return { json: null, form: fieldsOf(formFields(await c.req.text())) };
  if (mayBeMultipart && isMultipart(type)) {
    try {
      return { json: null, form: fieldsOf(await c.req.formData()) };
    } catch {
      throw new Fault('invalid_request', 'the body is not multipart/form-data as it says; encode it so', {
        field: 'body',
      });
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
  throw new Fault('invalid_request', `${name} came more than once; send it once`, { field: name });
}

/**
 * The choices that a form makes. Browsers do not send unticked boxes, so the form lists its boxes in `boxes`, separated
 * by spaces. Throws `invalid_request`.
 */
export function choiceFields(form: Map<string, string[]>): Record<string, unknown> {
  const boxes = (onlyField(form, 'boxes') ?? '').split(' ');
  const sections = form.get('sections');
  if (sections === undefined && boxes.includes('sections')) {
    throw new Fault('invalid_request', 'sections: none is ticked; tick one or more', { field: 'sections' });
  }
  const cast = tickedField(form, 'cast');
  return { cadence: onlyField(form, 'cadence'), sections, cast: cast ?? (boxes.includes('cast') ? false : undefined) };
}

/** Whether a box is ticked; undefined when the form does not have it. Throws `invalid_request`. */
function tickedField(form: Map<string, string[]>, name: string): boolean | undefined {
  const value = onlyField(form, name);
  if (value === undefined) return undefined;
  if (value === 'true' || value === 'on') return true;
  if (value === 'false') return false;
  throw new Fault('invalid_request', `${name}: ${JSON.stringify(value.slice(0, 80))} must be true or false`, {
    field: name,
  });
}

/** Validates a value. Throws `invalid_request` naming the invalid member: the list rather than its item. */
export function validated<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [problem] = shapeProblems(parsed.error, value);
  const field = problem?.field.replace(/\[.*$/, '') ?? 'body';
  throw new Fault('invalid_request', `${problem?.field}: ${problem?.message}`, { field });
}

function fieldsOf(entries: Iterable<[string, FormDataEntryValue]>): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of entries) {
    const values = fields.get(name) ?? [];
    // None of these forms accepts a file.
    values.push(typeof value === 'string' ? value : '');
    fields.set(name, values);
  }
  return fields;
}
