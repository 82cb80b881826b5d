import type { Context } from 'hono';
import { generateCookie, getCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import type { Account } from '../../src/accounts/account.ts';
import { SESSION_IDLE_MAX, sessionOf } from '../../src/accounts/session.ts';
import type { AppContext } from '../../src/app/context.ts';
import type { RecordsEnv } from '../env.ts';
import { setHeader } from '../responses/headers.ts';

/** Trees where no cookie counts: programs come there with keys, and pages of other origins may ask. */
const WITHOUT_COOKIES = /^\/(?:v1|mcp|\.well-known|badge|_astro)(?:\/|$)|^\/(?:health|changes\.(?:json|rss))$/;

/** Who is signed in, for any page. Null on every path where cookies do not count. */
export function signedIn(c: Context<RecordsEnv>): Account | null {
  return c.get('signed')?.account ?? null;
}

/** Reads the cookie of a session, on pages alone, and moves its end on. */
export function readSession({ store, settings, now }: Pick<AppContext, 'store' | 'settings' | 'now'>) {
  return createMiddleware<RecordsEnv>(async (c, next) => {
    if (!WITHOUT_COOKIES.test(c.req.path) && !isForeign(c, settings.dataOrigin)) {
      const token = getCookie(c, cookieName(settings.dataOrigin));
      const found = token === undefined ? null : sessionOf({ sessions: store.sessions, now }, token);
      const account = found === null ? null : store.accounts.find(found.session.account);
      if (token !== undefined && found !== null && account !== null) {
        if (found.slid) setSessionCookie(c, settings.dataOrigin, token);
        c.set('signed', { account, session: found.session, token });
      }
    }
    await next();
  });
}

/** Whether a page of another origin asks: its browser names it where it does more than follow a link. */
function isForeign(c: Context, dataOrigin: string): boolean {
  const origin = c.req.header('origin');
  return origin !== undefined && origin !== dataOrigin && c.req.header('sec-fetch-site') !== 'same-origin';
}

/** Gives the browser a session's cookie; a script of a page cannot read it. */
export function setSessionCookie(c: Context, dataOrigin: string, token: string): void {
  sendCookie(c, dataOrigin, token, SESSION_IDLE_MAX / 1000);
}

/** Takes a session's cookie away. */
export function clearSessionCookie(c: Context, dataOrigin: string): void {
  sendCookie(c, dataOrigin, '', 0);
}

/** A response has one cookie: whatever is set last. `maxAge` is in seconds. */
function sendCookie(c: Context, dataOrigin: string, value: string, maxAge: number): void {
  setHeader(c, 'Set-Cookie', generateCookie(cookieName(dataOrigin), value, { ...cookieOf(dataOrigin), maxAge }));
}

/** `__Host-` (RFC 6265bis, section 4.1.3.2): set over TLS, by this very host, for all of it. */
function cookieName(dataOrigin: string): string {
  return dataOrigin.startsWith('https:') ? '__Host-session' : 'records_session';
}

function cookieOf(dataOrigin: string) {
  return { path: '/', httpOnly: true, sameSite: 'Lax', secure: dataOrigin.startsWith('https:') } as const;
}
