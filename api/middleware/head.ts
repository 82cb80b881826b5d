import type { Context, Next } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';

/**
 * Sets the Content-Length of HEAD responses to that of GET. Hono drops the body, from which the listener computes the
 * length. Responses without a body, such as those of handlers that do nothing for HEAD, are left as they are.
 */
export const setHeadLength = createMiddleware<DeskEnv>((c, next) =>
  c.req.method === 'HEAD' ? withLength(c, next) : next(),
);

async function withLength(c: Context<DeskEnv>, next: Next): Promise<void> {
  await next();
  if (c.env.outgoing.headersSent || c.res.body === null) return;
  c.res.headers.set('Content-Length', String((await c.res.arrayBuffer()).byteLength));
}
