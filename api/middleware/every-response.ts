import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';
import { setHeader } from '../responses/headers.ts';

/** Accepts a proxy's request id. Other values might be an attack on readers of the log. */
const GIVEN = /^[\w=-]{1,255}$/;

/** Puts an id of each request, which a proxy may give, into its response and the log. */
export const assignRequestId = createMiddleware<DeskEnv>((c, next) => {
  const given = c.req.header('x-request-id');
  const id = given !== undefined && GIVEN.test(given) ? given : randomUUID();
  c.set('requestId', id);
  setHeader(c, 'X-Request-Id', id);
  return next();
});

/**
 * Sets the Content-Length of HEAD responses to that of GET. Hono drops the body, from which the listener computes the
 * length. Responses without a body, such as those of handlers that do nothing for HEAD, are left as they are.
 */
export const setHeadLength = createMiddleware<DeskEnv>(async (c, next) => {
  await next();
  if (c.req.method !== 'HEAD' || c.env.outgoing.headersSent || c.res.body === null) return;
  c.res.headers.set('Content-Length', String((await c.res.arrayBuffer()).byteLength));
});
