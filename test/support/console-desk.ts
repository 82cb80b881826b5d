import assert from 'node:assert/strict';
import pino from 'pino';
import { KeyUses } from '../../api/middleware/key-uses.ts';
import { deskRouter } from '../../api/server.ts';
import { consoleMails } from '../../src/desk/jobs/paper-mails.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { makePaperKey } from '../../src/desk/papers/paper-keys.ts';
import { loadBuild } from '../../src/desk/press/build.ts';
import { MINUTE } from '../../src/proof/time.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, type Scope, tempFolder } from './app-context.ts';
import { enterPapers, type Keys, type SmallPaper } from './small-papers.ts';

export const ORIGIN = 'https://news.example';

/** A browser: it keeps its cookies by name, and sends what browsers send. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #ask: (request: Request) => Promise<Response>;

  constructor(ask: (request: Request) => Promise<Response>) {
    this.#ask = ask;
  }

  async send(path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...init.headers };
    const response = await this.#ask(new Request(new URL(path, ORIGIN), { ...init, headers }));
    const set = response.headers.get('set-cookie');
    if (set !== null) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0/.test(set)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  get(path: string, headers: Record<string, string> = {}) {
    return this.send(path, { headers });
  }

  post(path: string, fields: Record<string, string>, headers: Record<string, string> = { origin: ORIGIN }) {
    return this.send(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  /** The token in the forms of a page. */
  async formToken(page = '/tides/console/sessions'): Promise<string> {
    return /name="form" value="([^"]+)"/.exec((await this.get(page)).text)?.[1] ?? '';
  }
}

/** A desk of small papers in this process, whose consoles are used over https. Its clock stands still. */
export async function consoleDesk(t: Scope, papers: readonly SmallPaper[]) {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, papers);
  const clock = { now: Date.now() };
  const app = openAppContext(readSettings(envIn(folder, { ORIGIN })), () => clock.now);
  const uses = new KeyUses(app.store.desk.keys, assert.ifError);
  const router = await deskRouter({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) }, uses);
  t.after(() => {
    uses.close();
    app.close();
  });
  const visitor = () =>
    new Visitor(async (request) =>
      router.fetch(request, {
        incoming: { headers: {}, rawHeaders: [], socket: { remoteAddress: '192.0.2.7' } },
        outgoing: { headersSent: false },
      } as never),
    );
  return {
    app,
    clock,
    visitor,
    keyOf: (paper: string, level: keyof Keys): string => keys.get(paper)?.[level] ?? assert.fail(),
    async signedIn(key: string, paper = 'tides'): Promise<Visitor> {
      const one = visitor();
      const { status, text } = await one.post(`/${paper}/console/sign-in`, { key });
      assert.equal(status, 303, text);
      return one;
    },
    seat: (email: string, level = 'admin', paper = 'tides', expires_at?: string) =>
      makePaperKey(app, paper, { level, name: email, seat: email, expires_at }),
    /** The links that are mailed now, by address. */
    async mailed(): Promise<{ to: string; path: string }[]> {
      const { render } = await loadBuild();
      const source = consoleMails(app, (content) => render('/mail', content));
      const due = source.queue.lease(clock.now, clock.now + MINUTE, 100);
      const mails = await Promise.all(due.map((mail) => source.compose(mail)));
      for (const { id } of due) source.queue.sent(id, clock.now);
      return mails.flatMap((mail) => {
        if (mail === null) return [];
        const [link = ''] = /https:\S+\/console\/enter\?token=\S+/.exec(mail.text) ?? [];
        return [{ to: mail.to, path: link.slice(ORIGIN.length) }];
      });
    },
  };
}

export type ConsoleDesk = Awaited<ReturnType<typeof consoleDesk>>;

/** Where a page for seats redirects to; null when it is shown. */
export async function sentTo(visitor: Visitor, path = '/tides/console/sessions'): Promise<string | null> {
  const { status, headers } = await visitor.get(path);
  return status === 200 ? null : headers.get('location');
}

/** The problem that a page names. */
export const said = (text: string): string =>
  [...text.matchAll(/role="alert"[^>]*>(?:<p>)?([^<]+)</g)]
    .map(([, words = '']) => words.replaceAll('&#34;', '"').replaceAll('&quot;', '"'))
    .join(' ');

export const tokenIn = (path: string): string => new URL(path, ORIGIN).searchParams.get('token') ?? '';
