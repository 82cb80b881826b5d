import { randomBytes } from 'node:crypto';
import { isoTime } from '../../../src/proof/time.ts';
import { requestSignIn, requireSignIn, signIn } from '../../../src/records/accounts/sign-in.ts';
import type { AppContext } from '../../../src/server/context.ts';
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
import { formGuards, SIGN_IN, sendAccountPage, signedInForm } from './pages.ts';

/**
 * Sign-up and sign-in are the same: a mailed link to a page with a button. Opening the link changes nothing, so that
 * mail scanners may do it. `secret` is the key of mailed links.
 */
export function signInHandlers({ store, settings, clock: { now } }: AppContext, secret: Uint8Array, pages: PageSender) {
  const proxies = proxyList(settings.trustedProxies);
  const linksLimited = throttle<RecordsEnv>(ASKS, proxies);

  const send = (
    c: RecordsContext,
    view: { asked?: string; problem?: string; sent?: boolean; ended?: string },
    status: 200 | 400 | 404 | 429,
  ) =>
    sendAccountPage(pages, c, ['/account/sign-in', 'Sign in', status], {
      asked: '',
      problem: null,
      ended: null,
      sent: false,
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
        const { token } = signIn(store.records, given, { now, newId, random: randomBytes }, (at) => countSignUp(c, at));
        // A browser holds one session; the previous one ends.
        if (before !== undefined) store.records.sessions.end(before.session.id);
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
      c.get('signed') === undefined ? await send(c, {}, 200) : c.redirect('/account', 303),
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
    signOut: signedInForm(settings, (c, { session, account }, form) => {
      if (form.text('everywhere') === 'yes') store.records.sessions.endAll(account.id);
      else store.records.sessions.end(session.id);
      setSessionCookie(c, settings.dataOrigin, null);
      return c.redirect(SIGN_IN, 303);
    }),
    endSession: signedInForm(settings, (c, { account }) => {
      const id = c.req.param('id');
      const found = store.records.sessions.list(account.id, now()).find((session) => session.id === id);
      if (found === undefined) throw new Fault('not_found', 'this browser is no longer signed in');
      store.records.sessions.end(found.id);
      return c.redirect('/account', 303);
    }),
  };
}
