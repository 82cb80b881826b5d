import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';

/** An id that a proxy in front gave; anything else there might be meant for the log's readers. */
const GIVEN = /^[\w=-]{1,255}$/;

/**
 * Names each request in its answer and in the log. The header is set on Node's
 * own response: set on Hono's, it would cost every answer a `Headers` object.
 */
export const nameRequest = createMiddleware<DeskEnv>(async (c, next) => {
  const given = c.req.header('x-request-id') ?? '';
  const id = GIVEN.test(given) ? given : randomUUID();
  c.set('requestId', id);
  c.env.outgoing.setHeader('X-Request-Id', id);
  await next();
});
