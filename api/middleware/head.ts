import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';

/**
 * Sets the Content-Length of HEAD responses to that of GET. Hono drops the body, from which the listener computes the
 * length. Responses without a body, such as those of handlers that do nothing for HEAD, are left as they are.
 */
export const setHeadLength = createMiddleware<DeskEnv>(async (c, next) => {
  await next();
  if (c.req.method !== 'HEAD' || c.env.outgoing.headersSent || c.res.body === null) return;
  c.res.headers.set('Content-Length', String((await c.res.arrayBuffer()).byteLength));
});
