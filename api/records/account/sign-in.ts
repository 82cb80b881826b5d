import { randomBytes } from 'node:crypto';
import { askToSignIn, signIn, toSignIn } from '../../../src/accounts/sign-in.ts';
import { newId } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import { ASKS, SIGN_UPS_MAX } from '../../../src/limits.ts';
import { readAddress } from '../../../src/readers/address.ts';
import { isoTime } from '../../../src/time.ts';
import type { RecordsEnv } from '../../env.ts';
import { callerNetwork, callerOf, proxyList } from '../../middleware/caller.ts';
import { giveCookie, takeCookie } from '../../middleware/session.ts';
import { LOOPBACK, throttle } from '../../middleware/throttle.ts';
import { setHeader } from '../../responses/headers.ts';
import { operatorOf } from '../lanes/addresses.ts';
import type { RecordsContext } from '../route.ts';
import { needPart, readForm } from './form.ts';
import type { AccountDoors } from './pages.ts';
import { accountForm, formGuards, SIGN_IN, sendAccountPage } from './pages.ts';
import { problemOf } from './problem.ts';

/**
 * Signing up and signing in, which are one: an address, a mail with a link, a
 * page with a button. Reading a page changes nothing, whoever reads it.
 */
export function signInDoors(doors: AccountDoors): void {
  const { router, enter, app, secret } = doors;
  const { store, now } = app;
  const { dataOrigin, trustedProxies } = app.settings;
  const proxies = proxyList(trustedProxies);
  const asks = throttle<RecordsEnv>(ASKS, proxies, { spares: () => false });

  const page = (
    c: RecordsContext,
    view: { asked?: string; problem?: string; sent?: boolean; ended?: string },
    status: 200 | 400 | 404 | 429,
  ) =>
    sendAccountPage(
      doors,
      c,
      { route: '/account/sign-in', title: 'Sign in', status },
      { asked: '', problem: null, ended: null, sent: false, ...view },
    );

  /** Throws `rate_limited` where the network of a caller made its accounts of the day. Callers on this machine are not counted. */
  const countSignUp = (c: RecordsContext, at: number): void => {
    const caller = callerOf(c.env, proxies);
    if (LOOPBACK.test(caller)) return;
    const until = app.store.quotas.signUp(callerNetwork(caller), at, SIGN_UPS_MAX);
    if (until === null) return;
    setHeader(c, 'Retry-After', String(Math.max(1, Math.ceil((until - at) / 1_000))));
    throw new Fault(
      'rate_limited',
      `from your network ${SIGN_UPS_MAX} accounts were made today, which is the most; ask for a link again after ${isoTime(until)}, or write to ${operatorOf(app.settings)}`,
    );
  };

  router.get(SIGN_IN, enter('public'), async (c) =>
    c.get('signed') === undefined ? await page(c, {}, 200) : c.redirect('/account', 303),
  );
  router.post(SIGN_IN, ...formGuards(doors), asks, async (c) => {
    const asked = (await readForm(c)).text('email');
    const address = readAddress(asked);
    if ('problem' in address) {
      return page(c, { asked: asked.slice(0, 254), problem: `This address ${address.problem}.` }, 400);
    }
    askToSignIn(store, address.key, { now, newId, secret });
    return page(c, { asked: address.key, sent: true }, 200);
  });

  router.get('/account/enter', enter('public'), async (c) => {
    const token = needPart('token', c.req.query('token'));
    try {
      const { email } = toSignIn(store.signIns, token, now());
      return await sendAccountPage(doors, c, { route: '/account/enter', title: 'Sign in' }, { token, address: email });
    } catch (error) {
      return page(c, { ended: problemOf(error) }, 404);
    }
  });
  router.post('/account/enter', ...formGuards(doors), async (c) => {
    const given = needPart('token', (await readForm(c)).text('token'));
    const before = c.get('signed');
    try {
      const { token } = signIn(store, given, { now, newId, random: randomBytes }, (at) => countSignUp(c, at));
      // A browser holds one session: the one that it had ends.
      if (before !== undefined) store.sessions.end(before.session.id);
      giveCookie(c, dataOrigin, token);
      return c.redirect('/account', 303);
    } catch (error) {
      const isTooMany = error instanceof Fault && error.code === 'rate_limited';
      return page(c, isTooMany ? { problem: problemOf(error) } : { ended: problemOf(error) }, isTooMany ? 429 : 404);
    }
  });

  accountForm(doors, '/account/sign-out', (c, { session, account }, form) => {
    if (form.text('everywhere') === 'yes') store.sessions.endAll(account.id);
    else store.sessions.end(session.id);
    takeCookie(c, dataOrigin);
    return c.redirect(SIGN_IN, 303);
  });
  accountForm(doors, '/account/sessions/:id/end', (c, { account }) => {
    const id = c.req.param('id');
    const found = store.sessions.list(account.id, now()).find((session) => session.id === id);
    if (found === undefined) throw new Fault('not_found', 'this browser is not signed in any more');
    store.sessions.end(found.id);
    return c.redirect('/account', 303);
  });
}
