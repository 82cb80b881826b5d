import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { type Headers, respond } from './headers.ts';
import type { Representation } from './response-cache.ts';

/** For responses that are the same for everyone: shared caches may keep them for a minute, then revalidate. */
export const PUBLIC = 'public, max-age=0, s-maxage=60, stale-while-revalidate=60';
/** For responses to one caller, which no cache may keep. */
export const PRIVATE = 'private, no-store';

export const JSON_TYPE = { 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff' };

/** Sends JSON that no cache may keep. */
export function privateJson(c: Context, body: unknown, status: 200 | 201 | 202 = 200, headers: Headers = {}): Response {
  return respond(c, JSON.stringify(body), status, { ...JSON_TYPE, 'Cache-Control': PRIVATE, ...headers });
}

/**
 * Sends a response that is the same for everyone who sends this request. Shared caches may keep it (`PUBLIC`, unless
 * `headers` say otherwise). Responds 304 when `If-None-Match` has the ETag of one of `known`, which defaults to the
 * representation itself. Sets nosniff.
 */
export function sendShared(
  c: Context,
  representation: Representation,
  headers: Headers,
  known: readonly Representation[] = [representation],
): Response {
  const all = sharedHeaders(representation, headers);
  const given = c.req.header('if-none-match');
  const match = given === undefined ? undefined : known.find(({ etag }) => matchesEtag(given, etag));
  if (match === undefined) return respond(c, representation.bytes, 200, all);
  // A 304 has no headers that describe the body, except the ETag and cache directives (RFC 9110, section 15.4.5).
  const { 'Content-Type': _type, 'Content-Encoding': _coding, ...rest } = { ...all, ...match.headers };
  return respond(c, null, 304, { ...rest, ETag: match.etag });
}

/** The headers of a 200 from `sendShared`. */
export function sharedHeaders({ headers: own, etag }: Representation, headers: Headers): Headers {
  return { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': PUBLIC, ...headers, ...own, ETag: etag };
}

/** Sends a representation to one caller only: no cache keeps it. */
export function sendPrivate(c: Context, { bytes, headers: own }: Representation, headers: Headers): Response {
  return respond(c, bytes, 200, { 'X-Content-Type-Options': 'nosniff', ...headers, ...own, 'Cache-Control': PRIVATE });
}

/** Whether If-None-Match contains the ETag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((known) => known.trim().replace(/^W\//, '') === etag);
}

/** Whether a caller prefers a fault as JSON to a page. Without `Accept` it gets a page. */
export function wantsRecord(c: Context): boolean {
  const supports = ['text/html', 'application/json', 'application/problem+json'];
  return accepts(c, { header: 'Accept', supports, default: 'text/html' }) !== 'text/html';
}
