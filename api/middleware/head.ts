import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';

/**
 * Tells HEAD the length that GET would have. Hono drops the body, and with it
 * what the listener reckons the length from. An answer without a body, such as
 * that of a handler which does not work for HEAD, is left as it is.
 */
export const setHeadLength = createMiddleware<DeskEnv>(async (c, next) => {
  await next();
  if (c.req.method !== 'HEAD' || c.env.outgoing.headersSent || c.res.body === null) return;
  c.res.headers.set('Content-Length', String((await c.res.arrayBuffer()).byteLength));
});
