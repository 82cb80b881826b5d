import { randomBytes } from 'node:crypto';
import type { BlockList } from 'node:net';
import { generateCookie, getCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { type Change, recordActivity } from '../../../src/desk/activity.ts';
import { type Beginning, type ConsoleSession, seatOf, sessionChange } from '../../../src/desk/console/session.ts';
import type { AccessKey } from '../../../src/desk/papers/keys.ts';
import { isPaperSlug } from '../../../src/desk/papers/paper.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { browserName } from '../../../src/shared/browser-name.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { beginSession, requireFormToken, SESSION_IDLE_MAX } from '../../../src/shared/session.ts';
import type { ConsoleContext, ConsoleSite, PaperContext, PaperEnv } from '../../env.ts';
import { callerNetwork, callerOf } from '../../middleware/caller.ts';
import { type Form, ownForm, readForm } from '../../middleware/form-body.ts';
import { atMost, BODY_MAX, limitBody } from '../../middleware/json-body.ts';
import { notFound } from '../../middleware/key.ts';
import { respond, setHeader } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import type { Sites } from '../site.ts';

export type { ConsoleContext } from '../../env.ts';

/**
 * Finds the site of each request to a console, and who is signed in there: sets `console`, and with a session `site`,
 * `key` and `session` too. A public paper's `site` is set without one; a private paper's is not, so that its signed-out
 * pages look like those of a paper that does not exist.
 */
export function consoleSession({ store, clock: { now } }: Pick<AppContext, 'store' | 'clock'>, sites: Sites) {
  return createMiddleware<PaperEnv>(async (c, next) => {
    const site = sites.of(c.env);
    if (site === null || !isPaperSlug(site.slug)) throw notFound();
    const base = new URL(site.served).pathname.replace(/\/$/, '');
    c.set('console', { ...site, base, origin: new URL(site.served).origin });
    c.set('key', null);
    if (site.paper?.paper_public) c.set('site', { ...site, paper: site.paper });
    const token = getCookie(c, cookieName(c));
    const { consoleSessions: sessions, keys } = store.desk;
    const seat = token === undefined ? null : seatOf({ sessions, keys, now }, site.slug, token);
    if (token !== undefined && seat !== null && site.paper !== null) {
      if (seat.slid) setCookie(c, token);
      c.set('site', { ...site, paper: site.paper });
      c.set('key', seat.key);
      c.set('session', seat.session);
      c.set('token', token);
    }
    await next();
  });
}

/** A page that reloads itself, sent with `Refresh: 0`. */
const STAY = '<!doctype html><html lang="en"><title>Console</title>';

/**
 * Admits seats only. Pages redirect to the sign-in page, which leads back; for forms it throws `key_required`. Runs
 * after `consoleSession`.
 */
export const requireSeat = createMiddleware<PaperEnv>((c, next) => {
  if (c.get('session') !== undefined) return next();
  const { base, path } = c.get('console');
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
    throw new Fault('key_required', `you are signed out; sign in at ${base}/console/sign-in, then send the form again`);
  }
  setHeader(c, 'Cache-Control', PRIVATE);
  // After a link on another site, browsers send no cookie (SameSite=Strict); when the page reloads itself, they do.
  if (/^(?:cross|same)-site$/.test(c.req.header('sec-fetch-site') ?? '')) {
    return Promise.resolve(respond(c, STAY, 200, { 'Content-Type': 'text/html; charset=UTF-8', Refresh: '0' }));
  }
  const to = `${path}${new URL(c.req.url).search}`;
  const query = /^\/console\/?$/.test(to) ? '' : `?to=${encodeURIComponent(to)}`;
  return Promise.resolve(c.redirect(`${base}/console/sign-in${query}`, 303));
});

/** Accepts forms from the console's own pages only. Throws `wrong_origin`. */
export const ownConsoleForm = ownForm((c: PaperContext) => c.get('console').origin);

/** The guards of a console's form, before its body is read. */
export const formGuards = [ownConsoleForm, limitBody];
/** The same for a form that carries a text as long as the API takes. */
export const longFormGuards = [ownConsoleForm, atMost(BODY_MAX, '1 MiB', 'form')];

/** The same for a form with a file, whose body the API's route reads and limits. */
export const uploadGuards = [ownConsoleForm];

/** Reads the form of a session. Throws `wrong_origin` unless it has the session's form token, in the field `form`. */
export async function readOwnForm(c: ConsoleContext): Promise<Form> {
  const form = await readForm(c);
  requireFormToken(c.get('token'), form.text('form'));
  return form;
}

/**
 * Where to go after signing in: a path of the console below the paper's root, from the parameter `to`; the console
 * itself when it is anything else.
 */
export function afterSignIn({ base, origin }: ConsoleSite, to = ''): string {
  const home = `${base}/console/`;
  const url = to.startsWith('/console/') ? URL.parse(base + to, origin) : null;
  return url?.origin === origin && url.pathname.startsWith(home) ? url.pathname + url.search : home;
}

/** Records what somebody did about signing in to a console, in the transaction of the change. */
export function recordOwn(
  { store, clock: { now } }: Pick<AppContext, 'store' | 'clock'>,
  c: PaperContext,
  { key, proxies }: { key: AccessKey; proxies: BlockList },
  ...changes: Change[]
): void {
  const actor = { who: key.id, way: 'console', network: callerNetwork(callerOf(c.env, proxies)) } as const;
  recordActivity(store.desk, { paper: key.paper, now: now(), newId }, actor, changes);
}

/** Starts a session for a key and sets its cookie, whose value it returns. The browser's previous session ends. */
export function signIn(
  app: Pick<AppContext, 'store' | 'clock'>,
  c: PaperContext,
  { key, began, proxies }: { key: AccessKey; began: Beginning; proxies: BlockList },
): string {
  const { consoleSessions: sessions } = app.store.desk;
  const owner = {
    ...{ paper: key.paper, key: key.id, began },
    browser: browserName(c.req.header('user-agent')),
    network: callerNetwork(callerOf(c.env, proxies)),
  };
  const { token } = app.store.database.transact(() => {
    const before = c.get('session');
    if (before !== undefined) sessions.end(before.id);
    recordOwn(app, c, { key, proxies }, sessionChange('begun', owner));
    const { now } = app.clock;
    return beginSession<ConsoleSession>({ sessions, now, newId, random: randomBytes }, owner);
  });
  setCookie(c, token);
  return token;
}

/** Ends the session of a request and clears its cookie. */
export function signOut(app: Pick<AppContext, 'store' | 'clock'>, c: ConsoleContext, proxies: BlockList): void {
  app.store.database.transact(() => {
    app.store.desk.consoleSessions.end(c.get('session').id);
    recordOwn(app, c, { key: c.get('key'), proxies }, sessionChange('ended', c.get('session')));
  });
  setCookie(c, null);
}

/** Sets the cookie, which scripts cannot read and other sites cannot send; null clears it. The last call wins. */
function setCookie(c: PaperContext, token: string | null): void {
  const { base, origin } = c.get('console');
  const maxAge = token === null ? 0 : SESSION_IDLE_MAX / 1000;
  const secure = origin.startsWith('https:');
  const cookie = { path: `${base}/`, httpOnly: true, sameSite: 'Strict', secure, maxAge } as const;
  setHeader(c, 'Cache-Control', PRIVATE);
  setHeader(c, 'Set-Cookie', generateCookie(cookieName(c), token ?? '', cookie));
}

/** `__Host-` and `__Secure-` (RFC 6265bis, section 4.1.3): set over TLS; the former by this host only, for all paths. */
function cookieName(c: PaperContext): string {
  const { base, origin, slug } = c.get('console');
  const prefix = !origin.startsWith('https:') ? '' : base === '' ? '__Host-' : '__Secure-';
  return `${prefix}console-${slug}`;
}
