import { createMiddleware } from 'hono/factory';
import { Fault } from '../../../src/fault.ts';
import type { RecordsEnv } from '../../env.ts';
import { formFields, isUrlencoded } from '../../middleware/form-body.ts';
import type { RecordsContext } from '../context.ts';

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

  /** A field with one of these values. Throws `invalid_request`. */
  oneOf<const W extends string>(name: string, words: readonly W[]): W {
    const value = this.text(name);
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    throw new Fault(
      'invalid_request',
      `${name} ${JSON.stringify(value.slice(0, 80))} is not one of ${words.join(', ')}; choose one of them`,
      { field: name },
    );
  }
}

/** A required part of a mailed link. Throws `invalid_request`. */
export function needPart(name: string, value: string | undefined): string {
  if (value) return value;
  throw new Fault('invalid_request', `${name} is missing; open the complete link from the mail`, { field: name });
}

/** Reads the body of a form. An empty body without a type is a form without fields. Throws `unsupported_media_type`. */
export async function readForm(c: RecordsContext): Promise<Form> {
  const type = c.req.header('content-type') ?? '';
  if (isUrlencoded(type)) return new Form(await c.req.text());
  if (type === '' && (await c.req.arrayBuffer()).byteLength === 0) return new Form('');
  throw new Fault(
    'unsupported_media_type',
    `the body is ${type === '' ? 'of no type' : JSON.stringify(type.slice(0, 100))}; send application/x-www-form-urlencoded, as the page's own form does`,
  );
}

/**
 * Accepts forms from pages of this service only. Browsers state the origin of a form, in Sec-Fetch-Site on trusted
 * connections, otherwise in Origin. Requests with neither do not come from a browser and are rejected too. Throws
 * `wrong_origin`.
 */
export function ownForms(dataOrigin: string) {
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const site = c.req.header('sec-fetch-site');
    const origin = c.req.header('origin');
    const isOwn = site !== undefined ? site === 'same-origin' : origin === dataOrigin;
    if (!isOwn) {
      throw new Fault(
        'wrong_origin',
        `this form was not sent from a page of ${dataOrigin}; open the page there and send it again`,
      );
    }
    await next();
  });
}
