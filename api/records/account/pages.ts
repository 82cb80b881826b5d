import type { MiddlewareHandler } from 'hono';
import type { AccountPages, AccountShell } from '../../../src/records/accounts/views.ts';
import type { Pages } from '../../../src/render.ts';
import type { Settings } from '../../../src/server/env.ts';
import { formToken, requireFormToken } from '../../../src/shared/session.ts';
import type { SignedIn } from '../../env.ts';
import { type Form, ownForm, readForm } from '../../middleware/form-body.ts';
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
  return [ownForm(() => dataOrigin), limitBody];
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
