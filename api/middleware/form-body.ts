import type { Context, MiddlewareHandler } from 'hono';
import { Fault } from '../../src/shared/fault.ts';
import { unstorable } from '../../src/shared/storable.ts';

/** The largest accepted form, in bytes. The longest form has a list of hostnames. */
export const FORM_MAX = 16 * 1024;
/** The most fields in a form. The largest form has one per section of a paper. */
const FIELDS_MAX = 1_000;

const FORM = /^application\/x-www-form-urlencoded *(?:;|$)/i;
const MULTIPART = /^multipart\/form-data *;/i;

/** Whether a content type is that of a URL-encoded form, as the pages' own forms send it. */
export function isUrlencoded(type: string): boolean {
  return FORM.test(type);
}

export function isMultipart(type: string): boolean {
  return MULTIPART.test(type);
}

/** Parses a form. Counts its fields first: `URLSearchParams` takes quadratic time for those without `=`. */
export function formFields(text: string): URLSearchParams {
  let fields = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) fields++;
  if (fields > FIELDS_MAX) {
    throw new Fault('invalid_request', `the form has ${fields} fields, more than ${FIELDS_MAX}; send those it needs`, {
      field: 'body',
    });
  }
  const form = new URLSearchParams(text);
  for (const [field, value] of form) {
    const why = unstorable(value);
    if (why !== null) throw new Fault('invalid_request', `${field} ${why}`, { field });
  }
  return form;
}

/**
 * Accepts forms from pages of this origin only, by Sec-Fetch-Site or, without it, Origin. Requests with neither do not
 * come from a browser. Throws `wrong_origin`.
 */
export function ownForm(originOf: (c: Context) => string): MiddlewareHandler {
  return (c, next) => {
    const site = c.req.header('sec-fetch-site');
    const own = originOf(c);
    if (site !== undefined ? site === 'same-origin' : c.req.header('origin') === own) return next();
    throw new Fault(
      'wrong_origin',
      `this form was not sent from a page of ${own}; open the page there and send it again`,
    );
  };
}

/** The fields of a submitted form. Throws `invalid_request` for too many. */
export class Form {
  readonly #fields: URLSearchParams;

  constructor(text: string) {
    this.#fields = formFields(text);
  }

  /** The value of a field, trimmed; '' when it is absent. Throws `invalid_request` for a repeated field. */
  text(name: string): string {
    const [value = '', another] = this.#fields.getAll(name);
    if (another === undefined) return value.trim();
    throw new Fault('invalid_request', `${name} was sent more than once; send it once`, { field: name });
  }

  /** Every value of a field that may be repeated, such as a list of choices. */
  all(name: string): string[] {
    return this.#fields.getAll(name);
  }

  /** Every field but the form's token, to show them again. Of a repeated field it gives the last value. */
  given(): Record<string, string> {
    const { form: _token, ...fields } = Object.fromEntries(this.#fields);
    return fields;
  }

  /** A field with one of these values. Throws `invalid_request`. */
  oneOf<const W extends string>(name: string, words: readonly W[]): W {
    const value = this.text(name);
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const message = `${name} ${JSON.stringify(value.slice(0, 80))} is not one of ${words.join(', ')}; choose one of them`;
    throw new Fault('invalid_request', message, { field: name });
  }
}

/** A required part of a mailed link. Throws `invalid_request`. */
export function needPart(name: string, value: string | undefined): string {
  if (value) return value;
  throw new Fault('invalid_request', `${name} is missing; open the complete link from the mail`, { field: name });
}

/** Reads the body of a form. An empty body without a type is a form without fields. Throws `unsupported_media_type`. */
export async function readForm({ req }: Context): Promise<Form> {
  const type = req.header('content-type') ?? '';
  if (isUrlencoded(type)) return new Form(await req.text());
  if (type === '' && (await req.arrayBuffer()).byteLength === 0) return new Form('');
  const message = `the body is ${type === '' ? 'of no type' : JSON.stringify(type.slice(0, 100))}; send application/x-www-form-urlencoded, as the page's own form does`;
  throw new Fault('unsupported_media_type', message);
}

/** The message of a fault as a sentence, for its form. Rethrows errors that the form did not cause. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
  return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
}
