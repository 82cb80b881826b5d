import { randomBytes } from 'node:crypto';
import { isoTime } from '../../../src/proof/time.ts';
import { answer } from '../../../src/records/accounts/answer.ts';
import { requestSignIn, requireSignIn, signIn } from '../../../src/records/accounts/sign-in.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { browserName } from '../../../src/shared/browser-name.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { ASKS, SIGN_UPS_MAX } from '../../../src/shared/limits.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { readAddress } from '../../../src/shared/outbound/mail-address.ts';
import type { RecordsEnv } from '../../env.ts';
import { callerNetwork, callerOf, proxyList } from '../../middleware/caller.ts';
import { needPart, problemOf, readForm } from '../../middleware/form-body.ts';
import { setSessionCookie } from '../../middleware/session.ts';
import { LOOPBACK, throttle } from '../../middleware/throttle.ts';
import { setHeader } from '../../responses/headers.ts';
import { operatorOf } from '../lanes/addresses.ts';
import type { PageSender } from '../pages/page.ts';
import type { RecordsContext, RecordsHandler } from '../route.ts';
import { answered, formGuards, SIGN_IN, sendAccountPage, signedInForm, signedInPage } from './pages.ts';

const SESSIONS = '/account/sessions';

/** Messages on the sign-in page about what was just done, by the word in its address. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['here', 'You are signed out in this browser. Your keys and alerts go on.'],
  ['everywhere', 'You are signed out in every browser. Your keys and alerts go on; revoke keys on their page.'],
  [
    'deleted',
    'The account is deleted: its keys no longer work, and nothing is left to undo. A new link makes a new, empty account.',
  ],
]);

/**
 * Sign-up and sign-in are the same: a mailed link to a page with a button. Opening the link changes nothing, so that
 * mail scanners may do it. `secret` is the key of mailed links.
 */
export function signInHandlers({ store, settings, clock: { now } }: AppContext, secret: Uint8Array, pages: PageSender) {
  const proxies = proxyList(settings.trustedProxies);
  const { sessions } = store.records;
  const linksLimited = throttle<RecordsEnv>(ASKS, proxies);

  const send = (
    c: RecordsContext,
    view: { asked?: string; problem?: string; sent?: boolean; ended?: string; done?: string },
    status: 200 | 400 | 404 | 429,
  ) =>
    sendAccountPage(pages, c, ['/account/sign-in', 'Sign in', status], {
      asked: '',
      problem: null,
      ended: null,
      sent: false,
      done: null,
      ...view,
    });

  /** Throws `rate_limited` when the caller's network created too many accounts today. Local callers are not counted. */
  const countSignUp = (c: RecordsContext, at: number): void => {
    const caller = callerOf(c.env, proxies);
    if (LOOPBACK.test(caller)) return;
    const until = store.records.quotas.signUp(callerNetwork(caller), at, SIGN_UPS_MAX);
    if (until === null) return;
    setHeader(c, 'Retry-After', String(Math.max(1, Math.ceil((until - at) / 1_000))));
    const message = `your network created ${SIGN_UPS_MAX} accounts today, which is the limit; ask for a link again after ${isoTime(until)}, or write to ${operatorOf(settings)}`;
    throw new Fault('rate_limited', message);
  };

  const sendLink: RecordsHandler = {
    before: [...formGuards(settings), linksLimited],
    handle: async (c) => {
      const asked = (await readForm(c)).text('email');
      const address = readAddress(asked);
      if ('problem' in address) {
        return send(c, { asked: asked.slice(0, 254), problem: `This address ${address.problem}.` }, 400);
      }
      requestSignIn(store.records, address.key, { now, newId, secret });
      return send(c, { asked: address.key, sent: true }, 200);
    },
  };

  const enter: RecordsHandler = {
    before: formGuards(settings),
    handle: async (c) => {
      const given = needPart('token', (await readForm(c)).text('token'));
      const before = c.get('signed');
      try {
        const browser = browserName(c.req.header('user-agent'));
        const fresh = { now, newId, random: randomBytes, browser };
        const { token } = signIn(store.records, given, fresh, (at) => countSignUp(c, at));
        // A browser holds one session; the previous one ends.
        if (before !== undefined) sessions.end(before.session.id);
        setSessionCookie(c, settings.dataOrigin, token);
        return c.redirect('/account', 303);
      } catch (error) {
        const isLimited = error instanceof Fault && error.code === 'rate_limited';
        return send(c, isLimited ? { problem: problemOf(error) } : { ended: problemOf(error) }, isLimited ? 429 : 404);
      }
    },
  };

  return {
    page: async (c: RecordsContext) =>
      c.get('signed') === undefined
        ? await send(c, { done: DONE.get(c.req.query('done') ?? '') ?? undefined }, 200)
        : c.redirect('/account', 303),
    sendLink,
    enterPage: async (c: RecordsContext) => {
      const token = needPart('token', c.req.query('token'));
      try {
        const { email } = requireSignIn(store.records.signIns, token, now());
        return await sendAccountPage(pages, c, ['/account/enter', 'Sign in'], { token, address: email });
      } catch (error) {
        return send(c, { ended: problemOf(error) }, 404);
      }
    },
    enter,
    signOut: signedInForm(settings, (c, signed, form) => {
      const { session, account } = signed;
      const where = form.text('everywhere');
      if (where === 'others') {
        const count = sessions.endAll(account.id, session.id);
        const many = count === 1 ? 'One other browser is' : `${count} other browsers are`;
        return answered(c, signed, SESSIONS, answer(`${many} signed out. A new link signs each in again.`));
      }
      if (where === 'yes') sessions.endAll(account.id);
      else sessions.end(session.id);
      setSessionCookie(c, settings.dataOrigin, null);
      return c.redirect(`${SIGN_IN}?done=${where === 'yes' ? 'everywhere' : 'here'}`, 303);
    }),
    endSession: signedInForm(settings, (c, signed) => {
      const id = c.req.param('id');
      const found = sessions.list(signed.account.id, now()).find((session) => session.id === id);
      if (found === undefined) throw new Fault('not_found', 'this browser is no longer signed in');
      sessions.end(found.id);
      const text = `${found.browser ?? 'The browser'} of ${isoTime(found.made_at).slice(0, 10)} is signed out. A new link signs it in again.`;
      return answered(c, signed, SESSIONS, answer(text));
    }),
    sessions: signedInPage((c, { account, session }) =>
      sendAccountPage(pages, c, ['/account/sessions', 'Sessions'], {
        sessions: sessions.list(account.id, now()).map(({ id, made_at, seen_at, browser }) => ({
          id,
          made_at: isoTime(made_at),
          seen_at: isoTime(seen_at),
          browser,
          is_this: id === session.id,
        })),
      }),
    ),
  };
}
