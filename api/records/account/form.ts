import { createMiddleware } from 'hono/factory';
import { Fault } from '../../../src/fault.ts';
import type { RecordsEnv } from '../../env.ts';
import { formFields, isUrlencoded } from '../../middleware/form-body.ts';
import type { RecordsContext } from '../route.ts';

/** The fields of a form that was sent, each with all that was given for it. Throws `invalid_request` for too many. */
export class Form {
  readonly #fields: URLSearchParams;

  constructor(text: string) {
    this.#fields = formFields(text);
  }

  /** The one value of a field, trimmed; '' when it is absent. Throws `invalid_request` when it came twice. */
  text(name: string): string {
    const [value = '', another] = this.#fields.getAll(name);
    if (another === undefined) return value.trim();
    throw new Fault('invalid_request', `${name} came more than once; send it once`, { field: name });
  }

  /** One of a few words. Throws `invalid_request`. */
  oneOf<const W extends string>(name: string, words: readonly W[]): W {
    const value = this.text(name);
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    throw new Fault(
      'invalid_request',
      `${name} ${JSON.stringify(value.slice(0, 80))} is none of ${words.join(', ')}; choose one`,
      { field: name },
    );
  }
}

/** Throws `invalid_request` for a part of a mailed link that is missing. */
export function needPart(name: string, value: string | undefined): string {
  if (value) return value;
  throw new Fault('invalid_request', `${name} is missing; open the link of the mail as it is`, { field: name });
}

/** Reads the body of a form; nothing at all, of no type, is one without fields. Throws `unsupported_media_type`. */
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
 * Takes forms from pages of this service alone. A browser says where a form came
 * from: by Sec-Fetch-Site where the connection is trusted, else by Origin. A
 * request that says neither is of no browser, and is refused as well. Throws
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
