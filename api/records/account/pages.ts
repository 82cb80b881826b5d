import type { MiddlewareHandler } from 'hono';
import { type Answer, openAnswer, sealAnswer } from '../../../src/records/accounts/answer.ts';
import type { AccountPages, AccountShell, FormProblem } from '../../../src/records/accounts/views.ts';
import type { Pages } from '../../../src/render.ts';
import type { Settings } from '../../../src/server/env.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { formToken, requireFormToken } from '../../../src/shared/session.ts';
import type { SignedIn } from '../../env.ts';
import { type Form, ownForm, problemOf, readForm } from '../../middleware/form-body.ts';
import { limitBody } from '../../middleware/json-body.ts';
import { setHeader } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext, RecordsHandler } from '../route.ts';

type Sent = Response | Promise<Response>;

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
  handle: (c: RecordsContext, signed: SignedIn, form: Form) => Sent,
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
  return [ownForm(() => dataOrigin), limitBody];
}

type Content<Route extends keyof Pages> = Omit<Pages[Route], keyof AccountShell> & { answer?: Answer | null };

/** Redirects from a form to a page that says what it did. */
export function answered(c: RecordsContext, { token }: SignedIn, path: string, said: Answer): Response {
  return c.redirect(`${path}?answer=${sealAnswer(token, said)}`, 303);
}

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
    answer: signed === undefined ? null : openAnswer(signed.token, c.req.query('answer')),
    form: signed === undefined ? '' : formToken(signed.token),
  };
  // `same-origin` lets forms send Origin to this host, but sends no URLs, which may contain tokens, to others.
  const headers = { 'Referrer-Policy': 'same-origin', 'X-Robots-Tag': 'noindex' };
  const view = { ...content, ...shell, answer: content.answer ?? shell.answer } as Pages[Route] & AccountShell;
  return pages.send(c, route, view, { status, isPrivate: true, headers });
}

/**
 * The message of a fault as a sentence, for its form, and the field that caused it; null for none. Rethrows what the form
 * did not cause.
 */
export function problemAt(error: unknown): FormProblem {
  const text = problemOf(error);
  const field = error instanceof Fault ? error.details.field : null;
  return { field: typeof field === 'string' ? field : null, text };
}
