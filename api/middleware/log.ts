import { createMiddleware } from 'hono/factory';
import type { Logger } from 'pino';

/** One line a request. No address of a reader, no query and no header is logged. */
export function logRequests(logger: Logger) {
  return createMiddleware(async (c, next) => {
    const start = performance.now();
    await next();
    logger.info(
      {
        request_id: c.get('requestId'),
        method: c.req.method,
        path: withoutAddresses(c.req.path),
        status: c.env.outgoing.headersSent ? c.env.outgoing.statusCode : c.res.status,
        ms: Math.round((performance.now() - start) * 10) / 10,
      },
      'answered',
    );
  });
}

/** The doors whose last segment is an address, and any segment else that looks like one, however it is encoded. */
const ADDRESS = /(\/api\/v1\/subscribers\/).+|[^/]*(?:@|%(?:25)*40)[^/]*/gi;

/** A path as it is logged: mail addresses of readers are left out. */
export function withoutAddresses(path: string): string {
  return path.replace(ADDRESS, (_, door: string | undefined) => `${door ?? ''}{email}`);
}
