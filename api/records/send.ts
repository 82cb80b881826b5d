import { membersIn } from '../../src/proof/narrow.ts';
import type { Store } from '../../src/store/store.ts';
import { signedIn } from '../middleware/session.ts';
import type { Headers } from '../responses/headers.ts';
import { nextLink } from '../responses/paging.ts';
import { isResponse, Reply, sendReply } from '../responses/reply.ts';
import type { Representation } from '../responses/response-cache.ts';
import { JSON_TYPE, privateJson, sendPrivate, sendShared } from '../responses/send.ts';
import type { RecordsContext } from './route.ts';

const KEY_HEADERS = 'Authorization, X-Service-Key';

/** For JSON at the address of a page. Pages of other origins may read it. */
export const JSON_BESIDE_PAGE = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': '*',
  Vary: `Accept, Cookie, ${KEY_HEADERS}`,
};

/**
 * Sends what a handler returned: a `Response` as it is, a representation with its ETag, any other value as JSON for
 * this caller alone, with a `Link` to the next page of a list.
 */
export function sendValue(c: RecordsContext, value: unknown, origin: string): Response {
  if (isResponse(value)) return value;
  if (isRepresentation(value)) return sendPublic(c, value, JSON_TYPE);
  const address = `${origin}${c.req.path}`;
  if (value instanceof Reply) return sendReply(c, value, address);
  const { next_cursor } = membersIn(value);
  const link = nextLink(address, c.req.query(), typeof next_cursor === 'string' ? next_cursor : null);
  return privateJson(c, value, 200, link === null ? {} : { Link: link });
}

function isRepresentation(value: unknown): value is Representation {
  return Buffer.isBuffer((value as Partial<Representation>).bytes);
}

/**
 * Sends a response that is the same for everyone, with its ETag. Responses to a key or a session stay out of shared
 * caches: they may carry that session's cookie.
 */
export function sendPublic(c: RecordsContext, representation: Representation, headers: Headers): Response {
  const isShared = c.get('key') === null && signedIn(c) === null;
  return (isShared ? sendShared : sendPrivate)(c, representation, { Vary: KEY_HEADERS, ...headers });
}

type Records = Store['records'];

/** Changes whenever a visible change comes, goes or looks different: with a delta, an opt-out, or an owner's note. */
export function changesState(records: Records): string {
  return `${records.newestDelta()}-${records.counts().opted_out}-${records.ownerVersion()}`;
}

/** Also changes with every observation, and when a hostname is added or paused. */
export function observationsState(records: Records): string {
  const { watched, paused } = records.counts();
  return `${changesState(records)}-${records.nextSeq()}-${watched}-${paused}`;
}

/** The number of visible changes, counted once per state. */
export function changeTotal(records: Records): () => number {
  let last: { state: string; total: number } | undefined;
  return () => {
    const state = changesState(records);
    if (last?.state !== state) last = { state, total: records.deltaCount({}) };
    return last.total;
  };
}
