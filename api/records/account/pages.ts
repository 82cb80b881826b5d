import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { formToken, requireFormToken } from '../../../src/records/accounts/session.ts';
import type { AccountPages, AccountShell } from '../../../src/records/accounts/views.ts';
import type { Pages } from '../../../src/render.ts';
import type { Settings } from '../../../src/server/env.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { RecordsEnv, SignedIn } from '../../env.ts';
import { formFields, isUrlencoded } from '../../middleware/form-body.ts';
import { limitBody } from '../../middleware/json-body.ts';
import { setHeader } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext, RecordsHandler } from '../route.ts';

type Answer = Response | Promise<Response>;

export const SIGN_IN = '/account/sign-in';

/** A page that takes a session; without one it redirects to the sign-in page. */
export const signedInPage =
  <T>(handle: (c: RecordsContext, signed: SignedIn) => T) =>
  (c: RecordsContext): T | Response => {
    const signed = c.get('signed');
    if (signed !== undefined) return handle(c, signed);
    setHeader(c, 'Cache-Control', PRIVATE);
    return c.redirect(SIGN_IN, 303);
  };

/** A form of a session: from our own page, with that session's token. Throws `wrong_origin`. */
export const signedInForm = (
  settings: Settings,
  handle: (c: RecordsContext, signed: SignedIn, form: Form) => Answer,
): RecordsHandler => ({
  before: formGuards(settings),
  handle: async (c) => {
    const signed = c.get('signed');
    // The session may have ended while the page was open.
    if (signed === undefined) return c.redirect(SIGN_IN, 303);
    const form = await readForm(c);
    requireFormToken(signed.token, form.text('form'));
    return handle(c, signed, form);
  },
});

export function formGuards({ dataOrigin }: Settings): MiddlewareHandler[] {
  return [ownForms(dataOrigin), limitBody];
}

type Content<Route extends keyof Pages> = Omit<Pages[Route], keyof AccountShell>;

/** Sends a page of an account, which stays out of every cache. */
export function sendAccountPage<Route extends keyof AccountPages>(
  pages: PageSender,
  c: RecordsContext,
  [route, title, status = 200]: [route: Route, title: string, status?: 200 | 201 | 400 | 404 | 429],
  content: Content<Route>,
): Promise<Response> {
  const signed = c.get('signed');
  const shell: AccountShell = {
    frame: pages.frame(c, {
      title: `${title} · Domain Records`,
      description: 'An account of the domain records.',
      path: c.req.path,
      noindex: true,
    }),
    email: signed?.account.email ?? null,
    form: signed === undefined ? '' : formToken(signed.token),
  };
  // `same-origin` lets forms send Origin to this host, but sends no URLs, which may contain tokens, to others.
  const headers = { 'Referrer-Policy': 'same-origin', 'X-Robots-Tag': 'noindex' };
  const view = { ...content, ...shell } as Pages[Route] & AccountShell;
  return pages.send(c, route, view, { status, isPrivate: true, headers });
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
export async function readForm(c: RecordsContext): Promise<Form> {
  const type = c.req.header('content-type') ?? '';
  if (isUrlencoded(type)) return new Form(await c.req.text());
  if (type === '' && (await c.req.arrayBuffer()).byteLength === 0) return new Form('');
  const message = `the body is ${type === '' ? 'of no type' : JSON.stringify(type.slice(0, 100))}; send application/x-www-form-urlencoded, as the page's own form does`;
  throw new Fault('unsupported_media_type', message);
}

/**
 * Accepts forms from pages of this service only, by Sec-Fetch-Site or, without it, Origin. Requests with neither do not
 * come from a browser. Throws `wrong_origin`.
 */
function ownForms(dataOrigin: string) {
  return createMiddleware<RecordsEnv>(async (c, next) => {
    const site = c.req.header('sec-fetch-site');
    const origin = c.req.header('origin');
    const isOwn = site !== undefined ? site === 'same-origin' : origin === dataOrigin;
    if (!isOwn) {
      const message = `this form was not sent from a page of ${dataOrigin}; open the page there and send it again`;
      throw new Fault('wrong_origin', message);
    }
    await next();
  });
}

/** The message of a fault as a sentence, for its form. Rethrows what the form did not cause. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
  return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
}
