import { signedIn } from '../middleware/session.ts';
import type { Headers } from '../responses/headers.ts';
import type { Representation } from '../responses/response-cache.ts';
import { sendPrivate, sendShared } from '../responses/send.ts';
import type { RecordsContext } from './route.ts';

/**
 * Sends what is the same for everybody; `headers` are its type and what else it
 * has of its own. What a key or a session asked for is not for shared caches: the
 * response may carry that session's cookie.
 */
export function sendMade(c: RecordsContext, representation: Representation, headers: Headers): Response {
  const isShared = c.get('key') === null && signedIn(c) === null;
  return (isShared ? sendShared : sendPrivate)(c, representation, { Vary: 'X-Service-Key', ...headers });
}

/** What JSON at the address of a page is sent with: pages of other origins may read it. */
export const JSON_BESIDE_PAGE = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': '*',
  Vary: 'Accept, Cookie, X-Service-Key',
};
