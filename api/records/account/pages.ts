import type { MiddlewareHandler } from 'hono';
import { formToken, needFormToken } from '../../../src/accounts/session.ts';
import type { AccountPages, AccountShell } from '../../../src/accounts/views.ts';
import type { Pages } from '../../../src/render.ts';
import type { RecordsEnv, SignedIn } from '../../env.ts';
import { limitBody } from '../../middleware/json-body.ts';
import { setHeader } from '../../responses/headers.ts';
import { frameOf } from '../pages/frame.ts';
import { sendPage } from '../pages/page.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';
import type { Form } from './form.ts';
import { ownForms, readForm } from './form.ts';

/** What every door file of an account gets. */
export interface AccountDoors extends RecordsDoors {
  /** Makes the tokens of links in mails. */
  secret: Uint8Array;
}

type Answer = Response | Promise<Response>;

/** Where whoever is not signed in is sent. */
export const SIGN_IN = '/account/sign-in';

/** Opens a page of the account; who is not signed in is sent to where that is done. */
export function accountPage(
  { router, enter }: AccountDoors,
  path: string,
  handler: (c: RecordsContext, signed: SignedIn) => Answer,
): void {
  router.get(path, enter('public'), async (c) => {
    const signed = c.get('signed');
    if (signed !== undefined) return handler(c, signed);
    setHeader(c, 'Cache-Control', 'private, no-store');
    return c.redirect(SIGN_IN, 303);
  });
}

/** Takes a form of the account: from a page of ours, and of the session that it was given to. Throws `wrong_origin`. */
export function accountForm(
  doors: AccountDoors,
  path: string,
  handler: (c: RecordsContext, signed: SignedIn, form: Form) => Answer,
): void {
  doors.router.post(path, ...formGuards(doors), async (c) => {
    const signed = c.get('signed');
    // Also where the session has ended while the page was open.
    if (signed === undefined) return c.redirect(SIGN_IN, 303);
    const form = await readForm(c);
    needFormToken(signed.token, form.text('form'));
    return handler(c, signed, form);
  });
}

/** What stands before every form of ours, signed in or not. */
export function formGuards({ enter, app }: AccountDoors): [MiddlewareHandler<RecordsEnv>, ...MiddlewareHandler[]] {
  return [enter('public'), ownForms(app.settings.dataOrigin), limitBody];
}

/** What a page is told beside its own matter. */
type Own<Route extends keyof Pages> = Omit<Pages[Route], keyof AccountShell>;

/** Prints a page of an account, which nobody may keep. */
export async function sendAccountPage<Route extends keyof AccountPages>(
  doors: AccountDoors,
  c: RecordsContext,
  { route, title, status = 200 }: { route: Route; title: string; status?: 200 | 201 | 400 | 404 | 429 },
  view: Own<Route>,
): Promise<Response> {
  const signed = c.get('signed');
  const shell: AccountShell = {
    frame: frameOf(doors.app, c, {
      title: `${title} · Domain Records`,
      description: 'An account of the domain records.',
      path: c.req.path,
      noindex: true,
    }),
    email: signed?.account.email ?? null,
    form: signed === undefined ? '' : formToken(signed.token),
  };
  const whole = { ...view, ...shell } as Pages[Route] & AccountShell;
  const answer = await sendPage(doors, c, route, whole, { status, maxAge: 0 });
  // A form's Origin is told to this host alone, and a token in the address to nobody.
  answer.headers.set('Referrer-Policy', 'same-origin');
  answer.headers.set('X-Robots-Tag', 'noindex');
  return answer;
}
