import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';
import { eventLoop } from '../../src/app/event-loop.ts';

/** One line a request. No key, no address of a reader, no query and no header is logged. */
export function logRequests(logger: Logger) {
  return createMiddleware(async (c, next) => {
    const start = performance.now();
    const asked = { request_id: c.get('requestId'), method: c.req.method, path: withoutSecrets(c.req.path) };
    const ended = eventLoop.began(asked);
    try {
      await next();
    } finally {
      ended();
    }
    logger.info(
      {
        ...asked,
        status: c.env.outgoing.headersSent ? c.env.outgoing.statusCode : c.res.status,
        ms: Math.round((performance.now() - start) * 10) / 10,
      },
      'answered',
    );
  });
}

/** The route whose last segment is an address. */
const SUBSCRIBER = /\/api\/v1\/subscribers\/(?=.)/i;

/** What only a segment that holds an address has, however it is encoded. */
const AT = /@|%(?:25)*40/;

/** What looks like a key, or the beginning of one: somebody put it where its id belongs. */
const KEY = /\b(nrf|drs)_[0-9a-z]{8,}/gi;

/** A path as it is logged: mail addresses of readers, and keys, are left out. */
export function withoutSecrets(path: string): string {
  const match = SUBSCRIBER.exec(path);
  const named = match === null ? path : path.slice(0, match.index);
  const segments = named.split('/').map((segment) => (AT.test(segment) ? '{email}' : segment));
  const rest = match === null ? '' : `${match[0]}{email}`;
  return `${segments.join('/')}${rest}`.replace(KEY, (_, prefix: string) => `${prefix}_{key}`);
}
