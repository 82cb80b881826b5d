import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import type { RateLimiterMemory } from 'rate-limiter-flexible';
import { eventLoop } from '../../src/app/event-loop.ts';
import type { Headers } from '../responses/headers.ts';
import { callerOf } from './caller.ts';
import { unnamedProxy } from './forwarded.ts';
import type { answerLog } from './log.ts';
import { requestIdOf } from './request-id.ts';
import { LOOPBACK } from './throttle.ts';

/** Answers a request; false, or its promise, leaves it to the router. */
export type KeptAnswers = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean | Promise<boolean>;

/** A good answer that is the same for everybody who sends such a request. */
export interface KeptAnswer {
  bytes: Uint8Array;
  /** Names and values in turn, as `writeHead` takes them; all but the id of the request. */
  headers: readonly string[];
}

/** An answer of these bytes. */
export function keptAnswer(bytes: Uint8Array, headers: Headers): KeptAnswer {
  return { bytes, headers: Object.entries({ ...headers, 'Content-Length': String(bytes.length) }).flat() };
}

/** A route of which answers are kept. */
export interface KeptRoute {
  /** What its paths begin with. A segment follows, of lower-case letters, digits, hyphens and dots. */
  prefix: string;
  /** Its pattern, as measurements name it. */
  pattern: string;
  /** The answer of a segment, if it is kept and still true. `accept` is the request's header. */
  kept(segment: string, accept: string | undefined): KeptAnswer | null;
}

export interface KeptOptions {
  log: ReturnType<typeof answerLog>;
  proxies: BlockList;
  /** The limit per address of the route's lane, from which callers on this machine are exempt. */
  limiter: RateLimiterMemory;
}

/** Headers for which the router may answer otherwise than it answers everybody. */
const DECIDING = [
  ...['cookie', 'authorization', 'x-nrf-key', 'x-service-key', 'x-payment', 'payment-signature'],
  ...['if-none-match', 'content-length', 'content-type', 'transfer-encoding'],
];
/** A segment that needs no decoding. */
const PLAIN = /^[a-z\d.-]{1,253}$/;
/** A host that the listener takes as it is. */
const HOST = /^[a-z\d._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;

/**
 * Answers what is kept before Hono: its `Request`, its router and fifteen middlewares cost more than such an answer. It
 * does what they would do, with the same limit, log and headers, and leaves everything else to them.
 */
export function keptAnswers({ prefix, pattern, kept }: KeptRoute, { log, proxies, limiter }: KeptOptions): KeptAnswers {
  const isUnnamed = unnamedProxy(proxies);
  const route = () => pattern;
  return (incoming, outgoing) => {
    const { url: path = '', headers } = incoming;
    if (!path.startsWith(prefix) || !isPlain(incoming) || isUnnamed({ incoming })) return false;
    const segment = path.slice(prefix.length);
    if (!PLAIN.test(segment)) return false;
    const start = performance.now();
    const asked = { request_id: requestIdOf(headers['x-request-id']), method: 'GET', path };
    const ended = eventLoop.began(asked, true);
    try {
      const answer = kept(segment, headers.accept);
      if (answer === null) return false;
      const send = () => {
        log(asked, { status: 200, ms: performance.now() - start, route });
        outgoing.writeHead(200, ['X-Request-Id', asked.request_id, ...answer.headers]);
        outgoing.end(answer.bytes);
        return true;
      };
      const caller = callerOf({ incoming }, proxies);
      if (LOOPBACK.test(caller)) return send();
      // Whoever is over the limit is told so by the router.
      return limiter.consume(caller).then(send, () => false);
    } catch {
      return false;
    } finally {
      ended();
    }
  };
}

function isPlain({ method, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    HOST.test(headers.host ?? '') &&
    DECIDING.every((name) => headers[name] === undefined)
  );
}
