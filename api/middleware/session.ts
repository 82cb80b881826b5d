import type { Context } from 'hono';
import { generateCookie, getCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import type { Account } from '../../src/records/accounts/account.ts';
import type { AppContext } from '../../src/server/context.ts';
import { SESSION_IDLE_MAX, sessionOf } from '../../src/shared/session.ts';
import type { RecordsEnv } from '../env.ts';
import { setHeader } from '../responses/headers.ts';

/** Paths where cookies are ignored: programs use keys there, and pages of other origins may send requests. */
const WITHOUT_COOKIES =
  /^\/(?:v1|mcp|\.well-known|badge|_astro)(?:\/|$)|^\/(?:health|ready|changes\.(?:json|rss)|llms\.txt|SKILL\.md|sitemap\.xml)$/;

/** The account that is signed in on a page. Null on every path that ignores cookies. */
export function signedIn(c: Context<RecordsEnv>): Account | null {
  return c.get('signed')?.account ?? null;
}

/** Reads the session cookie on pages only, and extends the session. */
export function readSession({ store, settings, clock: { now } }: Pick<AppContext, 'store' | 'settings' | 'clock'>) {
  return createMiddleware<RecordsEnv>((c, next) => {
    if (!WITHOUT_COOKIES.test(c.req.path) && !isForeign(c, settings.dataOrigin)) {
      const token = getCookie(c, cookieName(settings.dataOrigin));
      const found = token === undefined ? null : sessionOf({ sessions: store.records.sessions, now }, token);
      const account = found === null ? null : store.records.accounts.find(found.session.account);
      if (token !== undefined && found !== null && account !== null) {
        if (found.slid) setSessionCookie(c, settings.dataOrigin, token);
        c.set('signed', { account, session: found.session, token });
      }
    }
    return next();
  });
}

/** Whether the request comes from a page of another origin. Browsers say so unless the user only follows a link. */
function isForeign(c: Context, dataOrigin: string): boolean {
  const origin = c.req.header('origin');
  return origin !== undefined && origin !== dataOrigin && c.req.header('sec-fetch-site') !== 'same-origin';
}

/** Sets the session cookie, which scripts cannot read; null clears it. It is the only cookie: the last call wins. */
export function setSessionCookie(c: Context, dataOrigin: string, token: string | null): void {
  const maxAge = token === null ? 0 : SESSION_IDLE_MAX / 1000;
  const secure = dataOrigin.startsWith('https:');
  const cookie = { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge } as const;
  setHeader(c, 'Set-Cookie', generateCookie(cookieName(dataOrigin), token ?? '', cookie));
}

/** `__Host-` (RFC 6265bis, section 4.1.3.2): set over TLS, by this host only, for all paths. */
function cookieName(dataOrigin: string): string {
  return dataOrigin.startsWith('https:') ? '__Host-session' : 'records_session';
}
