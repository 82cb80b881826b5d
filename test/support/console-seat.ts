import { randomBytes } from 'node:crypto';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { newId } from '../../src/shared/new-id.ts';
import { beginSession, formToken } from '../../src/shared/session.ts';
import { envIn } from './app-context.ts';

/** A browser that is signed in to a paper's console. */
export interface Seat {
  /** The URL of the console, with its slash. */
  root: string;
  cookie: { name: string; value: string };
  get(path: string): Promise<{ status: number; html: string }>;
  /** Sends a form as a page of the console does. `more` replaces its headers. */
  post(
    path: string,
    fields: Record<string, string> | URLSearchParams | FormData,
    more?: Record<string, string>,
  ): Promise<{ status: number; html: string; location: string | null }>;
  /** The same, and then the page to which it leads. */
  done(path: string, fields: Record<string, string> | FormData): Promise<string>;
}

/** Signs a new key in, in the database of a server that runs at `url`. */
export function seatAt(url: string, folder: string, paper: string, level: 'read' | 'admin'): Seat {
  const app = openAppContext(readSettings(envIn(folder)));
  let token = '';
  try {
    const { made } = makePaperKey(app, paper, { level, name: `A seat: ${level} ${newId()}` });
    const { consoleSessions: sessions } = app.store.desk;
    const owner = { paper, key: made.id, began: 'key' as const, browser: 'a test', network: '127.0.0.0/24' };
    token = beginSession({ sessions, now: app.clock.now, newId, random: randomBytes }, owner).token;
  } finally {
    app.close();
  }
  const root = `${url}/${paper}/console/`;
  const cookie = { name: `console-${paper}`, value: token };
  const headers = { Cookie: `${cookie.name}=${cookie.value}`, Origin: new URL(url).origin };
  const seat: Seat = {
    root,
    cookie,
    async get(path) {
      const response = await fetch(root + path, { headers, redirect: 'manual' });
      return { status: response.status, html: await response.text() };
    },
    async post(path, fields, more = {}) {
      const body = fields instanceof FormData ? new FormData() : new URLSearchParams();
      body.set('form', formToken(token));
      body.set('once', newId());
      for (const [name, value] of fields instanceof FormData || fields instanceof URLSearchParams
        ? fields
        : Object.entries(fields)) {
        // The form's own fields are replaced, and others may come more than once.
        if (name === 'form' || name === 'once') body.delete(name);
        (body as FormData).append(name, value as string);
      }
      const response = await fetch(root + path, {
        method: 'POST',
        headers: { ...headers, ...more },
        body,
        redirect: 'manual',
      });
      return { status: response.status, html: await response.text(), location: response.headers.get('location') };
    },
    async done(path, fields) {
      const { status, html, location } = await seat.post(path, fields);
      if (status !== 303 || location === null) throw new Error(`${path} answers ${status}: ${html.slice(0, 2_000)}`);
      const page = await fetch(location, { headers });
      return page.text();
    },
  };
  return seat;
}
