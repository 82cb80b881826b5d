import type { Context } from 'hono';
import { matchesEtag } from './etag.ts';
import type { Headers } from './headers.ts';
import { respond } from './headers.ts';
import type { Representation } from './response-cache.ts';

/** What is the same for everybody: a shared cache may hold it for a minute, and asks again. */
export const PUBLIC = 'public, max-age=0, s-maxage=60, stale-while-revalidate=60';
/** What one caller may see is in nobody's cache. */
export const PRIVATE = 'private, no-store';

export const JSON_TYPE = { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' };

/** Sends JSON that no cache may keep. */
export function privateJson(c: Context, body: unknown, status: 200 | 201 | 202 = 200, headers: Headers = {}): Response {
  return respond(c, JSON.stringify(body), status, { ...JSON_TYPE, 'Cache-Control': PRIVATE, ...headers });
}

/**
 * Sends what is the same for everybody who asks in this way: shared caches may
 * keep it (`PUBLIC`, unless `headers` say otherwise), and `If-None-Match` with
 * the ETag of any of `known`, or with its own, is answered 304. Nosniff is set.
 */
export function sendShared(
  c: Context,
  representation: Representation,
  headers: Headers,
  known: readonly Representation[] = [representation],
): Response {
  const all: Headers = {
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': PUBLIC,
    ...headers,
    ...representation.headers,
  };
  const given = c.req.header('if-none-match');
  const match = given === undefined ? undefined : known.find(({ etag }) => matchesEtag(given, etag));
  if (match === undefined) return respond(c, representation.bytes, 200, { ...all, ETag: representation.etag });
  // Of what describes the body only the ETag and the cache's directives go with a 304 (RFC 9110, section 15.4.5).
  const { 'Content-Type': _type, 'Content-Encoding': _coding, ...rest } = { ...all, ...match.headers };
  return respond(c, null, 304, { ...rest, ETag: match.etag });
}

/** Sends the same to one caller alone: no cache keeps it. */
export function sendPrivate(c: Context, { bytes, headers: own }: Representation, headers: Headers): Response {
  return respond(c, bytes, 200, { 'X-Content-Type-Options': 'nosniff', ...headers, ...own, 'Cache-Control': PRIVATE });
}
