import { accepts } from 'hono/accepts';
import type { RecordsFrame } from '../../../src/records/views.ts';
import type { Pages } from '../../../src/render.ts';
import { respond } from '../../responses/headers.ts';
import type { Representation, ResponseCache } from '../../responses/response-cache.ts';
import { representationOf } from '../../responses/response-cache.ts';
import { PRIVATE, sendShared } from '../../responses/send.ts';
import type { RecordsContext, RecordsDoors } from '../route.ts';

/** Nothing inline runs and nothing comes from another host: scripts and styles are files under `/_astro/`. */
const CSP =
  "default-src 'none'; img-src 'self' data:; font-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Seconds for which a cache in front may answer with a page that says the same to everybody. */
const SHARED_AGE = 30;

/** A reader who is signed in sees more at the same address, and some addresses are pages and JSON. */
const VARY = 'Accept, Cookie';

type PageStatus = 200 | 201 | 400 | 401 | 402 | 403 | 404 | 405 | 409 | 410 | 413 | 415 | 422 | 429 | 500 | 501 | 503;

interface PageAnswer {
  status?: PageStatus;
  /** Seconds for which shared caches may keep it; 0 for a page that nobody may keep. */
  maxAge?: number;
}

type Printer = Pick<RecordsDoors, 'build' | 'app'>;

/** Opens the address of a page: to everybody, and counted by caller like all that is public. */
export function openPage(
  { router, enter }: Pick<RecordsDoors, 'router' | 'enter'>,
  path: string,
  handler: (c: RecordsContext) => Response | Promise<Response>,
): void {
  router.get(path, enter('public'), handler);
}

/**
 * Prints a page and sends it, with its headers and its mark (`ETag`). Only a 200
 * that says the same to everybody may be kept by caches.
 */
export async function sendPage<Route extends keyof Pages>(
  { build, app }: Printer,
  c: RecordsContext,
  route: Route,
  view: Pages[Route] & { frame: RecordsFrame },
  { status = 200, maxAge = SHARED_AGE }: PageAnswer = {},
): Promise<Response> {
  const html = await build.render(route, view);
  const isShared = status === 200 && maxAge > 0 && view.frame.signed_in === null;
  if (isShared) return sendSharedPage(app.settings.dataOrigin, c, representationOf(html), maxAge);
  return respond(c, html, status, {
    ...pageHeaders(app.settings.dataOrigin),
    'Content-Type': 'text/html; charset=utf-8',
    Vary: VARY,
    'Cache-Control': PRIVATE,
  });
}

/**
 * Sends a page that says the same to everybody as long as `state` is the same,
 * printed once for each state. Who is signed in has a page of their own.
 */
export async function sendKeptPage<Route extends keyof Pages>(
  { build, app }: Printer,
  c: RecordsContext,
  route: Route,
  { frame, view }: { frame: RecordsFrame; view(): Pages[Route] & { frame: RecordsFrame } },
  { kept, name, state }: { kept: ResponseCache; name: string; state: string },
): Promise<Response> {
  if (frame.signed_in !== null) return sendPage({ build, app }, c, route, view());
  const made = await kept.load(name, state, () => build.render(route, view()));
  return sendSharedPage(app.settings.dataOrigin, c, made, SHARED_AGE);
}

function sendSharedPage(root: string, c: RecordsContext, page: Representation, maxAge: number): Response {
  return sendShared(c, page, {
    ...pageHeaders(root),
    'Content-Type': 'text/html; charset=utf-8',
    Vary: VARY,
    'Cache-Control': `public, max-age=0, s-maxage=${maxAge}, stale-while-revalidate=${maxAge}`,
  });
}

/** The headers that guard a page. */
export function pageHeaders(root: string): Record<string, string> {
  return {
    'Content-Security-Policy': CSP,
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()',
    ...(root.startsWith('https:') ? { 'Strict-Transport-Security': 'max-age=31536000' } : {}),
  };
}

/** Whether a page is wanted, and not JSON: by a browser. What says nothing, or takes anything, is a program. */
export function wantsPage(c: RecordsContext): boolean {
  const type = accepts(c, {
    header: 'Accept',
    supports: ['application/json', 'application/problem+json', 'text/html'],
    default: 'application/json',
  });
  return type === 'text/html';
}
