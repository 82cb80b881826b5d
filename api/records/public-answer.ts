import { signedIn } from '../middleware/session.ts';
import { matchesEtag } from '../responses/etag.ts';
import type { Representation } from '../responses/response-cache.ts';
import { PRIVATE, PUBLIC } from '../responses/send.ts';
import type { RecordsContext } from './route.ts';

/**
 * Sends what says the same to everybody; `headers` are its type and what else it
 * has of its own. What a key or a session asked for is not for shared caches: the
 * answer may carry that session's cookie.
 */
export function sendMade(
  c: RecordsContext,
  { bytes, etag: mark, link }: Representation,
  headers: Record<string, string>,
): Response {
  const isShared = c.get('key') === null && signedIn(c) === null;
  const all = {
    'X-Content-Type-Options': 'nosniff',
    Vary: 'X-Service-Key',
    'Cache-Control': PUBLIC,
    ...(link === null ? {} : { Link: link }),
    ...headers,
    ...(isShared ? { ETag: mark } : { 'Cache-Control': PRIVATE }),
  };
  if (isShared && matchesEtag(c.req.header('if-none-match'), mark)) return c.body(null, 304, all);
  return c.body(bytes, 200, all);
}

/** The way to the next page of a list at an address (RFC 8288); null at its end. */
export function nextLink(address: string, limit: number, cursor: string | null): string | null {
  return cursor === null ? null : `<${address}?limit=${limit}&cursor=${cursor}>; rel="next"`;
}

/** What JSON at the address of a page is sent with: pages of other origins may read it. */
export const JSON_BESIDE_PAGE = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': '*',
  Vary: 'Accept, Cookie, X-Service-Key',
};
