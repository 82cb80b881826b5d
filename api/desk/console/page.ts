import { ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { ConsoleFrame, ConsolePages, ConsoleShell, Notice } from '../../../src/desk/console/views.ts';
import type { Level } from '../../../src/desk/papers/keys.ts';
import { DEFAULT_TYPEFACES } from '../../../src/desk/papers/typefaces.ts';
import type { Build } from '../../../src/desk/press/build.ts';
import { MINUTE } from '../../../src/proof/time.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { formToken } from '../../../src/shared/session.ts';
import type { PaperContext } from '../../env.ts';
import { type Acting, type Ask, actingAs } from '../../middleware/acting.ts';
import { requireKeyOfLevel } from '../../middleware/key.ts';
import { fileHeaders } from '../../responses/files.ts';
import { respond } from '../../responses/headers.ts';
import { PRIVATE } from '../../responses/send.ts';
import type { ConsoleContext } from './session.ts';

/** The dependencies of the console's pages and actions. */
export interface ConsoleParts {
  app: AppContext;
  render: Build['render'];
  ask: Ask;
  notices: Notices;
}

/** A page: its route, its title and its content. */
export type Shown = {
  [Route in keyof ConsolePages]: readonly [
    route: Route,
    title: string,
    content: Omit<ConsolePages[Route], keyof ConsoleShell>,
  ];
}[keyof ConsolePages];

/**
 * The outcomes of actions, for the page that the browser requests next. They are kept in memory for ten minutes; losing one
 * loses nothing but the message.
 */
export class Notices {
  readonly #notices = new LRUCache<string, Notice>({
    // In UTF-16 units. The notice of a refused form has all of its texts.
    maxSize: 32 * 1024 * 1024,
    sizeCalculation: (notice) => JSON.stringify(notice).length,
    ttl: 10 * MINUTE,
  });

  /** Keeps a notice for a session, and returns its id. */
  put(session: string, notice: Notice): string {
    const id = newId();
    this.#notices.set(`${session} ${id}`, notice);
    return id;
  }

  /** The notice of an id. A secret in it is shown once. */
  take(session: string, id: string | undefined): Notice | null {
    const key = `${session} ${id}`;
    const notice = this.#notices.get(key) ?? null;
    if (notice?.secret !== undefined) this.#notices.delete(key);
    return notice;
  }
}

/** The path below the console, without the slash at its start. */
export const pathBelow = (c: PaperContext): string => c.req.path.slice(`/${c.get('site').slug}/console/`.length);

/** The URL of the console, with its slash. */
export const consoleRoot = (c: PaperContext): string => `${c.get('site').served}/console/`;

/** A page for seats of at least a level. */
export function consolePage(
  { render, notices }: ConsoleParts,
  level: Exclude<Level, 'agent'>,
  show: (c: ConsoleContext) => Shown | Promise<Shown>,
) {
  return async (c: ConsoleContext): Promise<Response> => {
    requireKeyOfLevel(c.get('key'), level);
    const [route, title, content] = await show(c);
    const notice = notices.take(c.get('session').id, c.req.query('said'));
    const view = { ...content, frame: frameOf(c, title, notice) } as ConsolePages[typeof route];
    return sendConsole(c, await render(route, view));
  };
}

/** A page that only says why a request was refused. */
export async function refusedPage({ render }: ConsoleParts, c: ConsoleContext, status: number, notice: Notice) {
  const title = status === 404 ? 'Not found' : 'Refused';
  return sendConsole(c, await render('/console/refused', { frame: frameOf(c, title, notice) }), status);
}

/** The content of a page's frame. */
export function frameOf(c: ConsoleContext, title: string, notice: Notice | null): ConsoleFrame {
  const { paper, root } = c.get('site');
  const { nameplate, language, hue, typefaces = DEFAULT_TYPEFACES } = paper;
  const { name, seat, level } = c.get('key');
  return {
    ...{ title, notice, root: consoleRoot(c), path: pathBelow(c) },
    paper: { nameplate, language, hue, typefaces, url: `${root}/` },
    seat: { name: name || seat || '', level },
    form: { token: formToken(c.get('token')), once: newId() },
  };
}

/** Sends a page of the console, which no cache keeps. */
export function sendConsole(c: PaperContext, html: string, status = 200): Response {
  return respond(c, html, status, {
    // The security headers of a page with forms: no inline script or style, and no frame elsewhere.
    ...fileHeaders('/subscribe/', c.get('console').served, []),
    'Content-Type': 'text/html; charset=UTF-8',
    'Cache-Control': PRIVATE,
    // Forms send Origin to this host, and other hosts see no address.
    'Referrer-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex, nofollow, noarchive',
  });
}

/** A request to the API of this paper. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path below `/api/v1/`. */
  path: string;
  /** JSON, or bytes with their type. */
  body?: unknown;
  bytes?: { body: Uint8Array | FormData; type?: string };
  /** Leaves the body of the console's own request, a form with a file, to the API's route. */
  streamed?: NonNullable<Acting['readFields']>;
}

/** A JSON response of the API. */
export interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: pages read members of many schemas, which are those of the API's own
  body: any;
}

/** Sends a request to the API's own route in process, as the key of the session. `once` is its Idempotency-Key. */
export async function fetchApi(
  { app, ask }: Pick<ConsoleParts, 'app' | 'ask'>,
  c: ConsoleContext,
  { method, path, body, bytes, streamed }: ApiRequest,
  once?: string,
): Promise<Response> {
  const headers = new Headers({ Accept: 'application/json', 'X-Request-Id': c.get('requestId') });
  if (once !== undefined) headers.set('Idempotency-Key', once);
  if (bytes?.type !== undefined) headers.set('Content-Type', bytes.type);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  for (const name of streamed === undefined ? [] : ['Content-Type', 'Content-Length', 'Content-Encoding']) {
    const value = c.req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  // Through the shared host, which also finds private papers.
  const url = `${app.settings.origin}/${c.get('site').slug}/api/v1/${path}`;
  const sent = bytes === undefined ? (body === undefined ? null : JSON.stringify(body)) : (bytes.body as BodyInit);
  const request = new Request(url, { method, headers, body: sent });
  // Routes set headers on Node's response: one of its own keeps them off the page.
  const outgoing = new ServerResponse(c.env.incoming);
  const env = actingAs(
    { ...c.env, outgoing },
    { way: 'console', key: c.get('key'), ...(streamed && { readFields: streamed }) },
  );
  return ask(request, env);
}

/** The same, with the JSON of the response. */
export async function askApi(...asked: Parameters<typeof fetchApi>): Promise<Answered> {
  const response = await fetchApi(...asked);
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

/** The body of a GET of the API. Throws what the API refused. */
export async function readApi(parts: ConsoleParts, c: ConsoleContext, path: string): Promise<Answered['body']> {
  const { status, body } = await askApi(parts, c, { method: 'GET', path });
  if (status < 400) return body;
  throw new Fault(body?.error ?? 'unavailable', body?.message ?? `${path} answered ${status}`);
}
