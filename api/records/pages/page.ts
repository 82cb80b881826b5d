import { accepts } from 'hono/accepts';
import type { Build } from '../../../src/desk/press/build.ts';
import type { RecordsFrame } from '../../../src/records/views.ts';
import type { Pages } from '../../../src/render.ts';
import type { Settings } from '../../../src/server/env.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { signedIn } from '../../middleware/session.ts';
import { fileHeaders } from '../../responses/files.ts';
import { type Headers, respond } from '../../responses/headers.ts';
import { type Representation, type ResponseCache, representationOf } from '../../responses/response-cache.ts';
import { PRIVATE, sendShared } from '../../responses/send.ts';
import { sendFile } from '../../responses/send-file.ts';
import type { RecordsContext } from '../route.ts';

/** Nothing inline runs and nothing comes from another host: scripts and styles are files under `/_astro/`. */
export const CSP =
  "default-src 'none'; img-src 'self' data:; font-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The policy of a page whose script fetches from any host over TLS. */
export const CSP_FETCHING = CSP.replace("connect-src 'self'", "connect-src 'self' https:");

/** How long shared caches may serve a page that is the same for everyone, in seconds. */
const SHARED_AGE = 30;

/** A signed-in reader sees more at the same address, and some addresses are both pages and JSON. */
const VARY = 'Accept, Cookie';

type PageStatus =
  | 200
  | 201
  | 400
  | 401
  | 402
  | 403
  | 404
  | 405
  | 409
  | 410
  | 413
  | 415
  | 421
  | 422
  | 429
  | 500
  | 501
  | 503;

interface Sending {
  status?: PageStatus;
  /** Whether the response stays out of every cache, although it is the same for everyone. */
  isPrivate?: boolean;
  headers?: Headers;
}

interface PageTitle {
  title: string;
  description: string;
  /** The page's canonical path, without a query: `/changes/2026-11-21`. */
  path: string;
  noindex?: boolean;
}

type Framed<Route extends keyof Pages> = Pages[Route] & { frame: RecordsFrame };

export class PageSender {
  readonly render: Build['render'];
  readonly #settings: Settings;
  readonly #isDemonstration: boolean;
  readonly #headers: Headers;
  readonly #headersShared: Headers;

  /** `isDemonstration` makes every page say that its records are invented. */
  constructor(render: Build['render'], settings: Settings, { isDemonstration = false } = {}) {
    this.render = render;
    this.#settings = settings;
    this.#isDemonstration = isDemonstration;
    this.#headers = {
      ...pageHeaders(settings.dataOrigin),
      'Content-Type': 'text/html; charset=utf-8',
      Vary: VARY,
    };
    const caching = `public, max-age=0, s-maxage=${SHARED_AGE}, stale-while-revalidate=${SHARED_AGE}`;
    this.#headersShared = { ...this.#headers, 'Cache-Control': caching };
  }

  frame(c: RecordsContext, { title, description, path, noindex = false }: PageTitle): RecordsFrame {
    const { dataOrigin: root, contact } = this.#settings;
    const signed_in = signedIn(c)?.email ?? null;
    return {
      ...{ root_absolute: root, canonical_absolute: root + path, title, description, noindex, signed_in, contact },
      is_demonstration: this.#isDemonstration,
      has_dumps: this.#settings.dumps !== null,
    };
  }

  /** Sends a page. Only a 200 that is the same for everyone may be cached. */
  async send<Route extends keyof Pages>(
    c: RecordsContext,
    route: Route,
    view: Framed<Route>,
    { status = 200, isPrivate = false, headers = {} }: Sending = {},
  ): Promise<Response> {
    const html = await this.render(route, view);
    if (status === 200 && !isPrivate && view.frame.signed_in === null) {
      return this.sendShared(c, representationOf(html), headers);
    }
    return respond(c, html, status, { ...this.#headers, 'Cache-Control': PRIVATE, ...headers });
  }

  /** Sends a page that is the same for everyone, rendered once per state. A signed-in reader gets a fresh one. */
  async sendCached<Route extends keyof Pages>(
    c: RecordsContext,
    route: Route,
    { frame, view }: { frame: RecordsFrame; view(): Framed<Route> },
    { cache, name, state }: { cache: ResponseCache; name: string; state: string },
  ): Promise<Response> {
    if (frame.signed_in !== null) return this.send(c, route, view());
    return this.sendShared(c, await cache.load(name, state, () => this.render(route, view())));
  }

  sendShared(c: RecordsContext, page: Representation, own: Headers = {}): Response {
    return sendShared(c, page, { ...this.#headersShared, ...own });
  }
}

export function pageHeaders(root: string): Headers {
  return {
    'Content-Security-Policy': CSP,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()',
    ...(root.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  };
}

/** Whether the client wants a page rather than JSON. Without a preference it gets JSON, as programs expect. */
export function wantsPage(c: RecordsContext): boolean {
  const type = accepts(c, {
    header: 'Accept',
    supports: ['application/json', 'application/problem+json', 'text/html'],
    default: 'application/json',
  });
  return type === 'text/html';
}

export const assets =
  (asset: Build['asset'], { dataOrigin }: Settings) =>
  (c: RecordsContext) => {
    const content = asset(c.req.path.slice(1));
    if (content === null) throw new Fault('not_found', 'no such file; it may belong to an older build');
    const headers = fileHeaders(c.req.path, dataOrigin, []);
    return sendFile(c, { file: c.req.path, content, status: 200, headers });
  };
