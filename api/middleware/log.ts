import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { Logger } from 'pino';
import { eventLoop } from '../../src/shared/workers/event-loop.ts';
import { inFlight, measurements, type Service } from '../../src/shared/workers/measurements.ts';

/** The pattern of the route that answered, or of the middleware that rejected, as `/{paper}/api/v1/stories/{id}`. */
const answeringRoute = (c: Context): string => routePath(c).replace(/:(\w+)/g, '{$1}');

/** Logs and measures each request. A line contains no key, no reader's address, no query and no header. */
export function logRequests(logger: Logger, service: Service) {
  return createMiddleware(async (c, next) => {
    const start = performance.now();
    const asked = { request_id: c.get('requestId'), method: c.req.method, path: withoutSecrets(c.req.path) };
    const ended = eventLoop.began(asked);
    inFlight[service]++;
    try {
      await next();
    } finally {
      ended();
      inFlight[service]--;
    }
    const ms = performance.now() - start;
    const status = c.env.outgoing.headersSent ? c.env.outgoing.statusCode : c.res.status;
    logger.info({ ...asked, status, ms: Math.round(ms * 10) / 10 }, 'answered');
    if (!measurements.listenerCount('request')) return;
    measurements.emit('request', { service, method: asked.method, route: answeringRoute(c), status, ms });
  });
}

/** The route whose last segment is a mail address. */
const SUBSCRIBER = /\/api\/v1\/subscribers\/(?=.)/i;

/** Matches only segments that contain a mail address, in any encoding. */
const AT = /@|%(?:25)*40/;

/** Matches a key or its beginning, which a caller sent in place of the key's id. */
const KEY = /\b(nrf|drs)_[0-9a-z]{8,}/gi;

/** The address of a preview, up to the end of its secret. */
const PREVIEW = /\/preview\/[^/]+/gi;

/** Where the private feed of a group is served, up to its end. The address is the only credential. */
const FEED = /^\/feeds\/([^/]+)\/.*/i;

/** A path without any of this has no secret. */
const SUSPECT = /@|%|\/(?:subscribers|preview)\/|^\/feeds\/|nrf_|drs_/i;

/** A path for the log, without readers' mail addresses, keys and secrets. */
export function withoutSecrets(path: string): string {
  if (!SUSPECT.test(path)) return path;
  const match = SUBSCRIBER.exec(path);
  const named = match === null ? path : path.slice(0, match.index);
  const segments = named.split('/').map((segment) => (AT.test(segment) ? '{email}' : segment));
  const rest = match === null ? '' : `${match[0]}{email}`;
  return `${segments.join('/')}${rest}`
    .replace(PREVIEW, '/preview/{secret}')
    .replace(FEED, '/feeds/$1/{secret}')
    .replace(KEY, (_, prefix: string) => `${prefix}_{key}`);
}
