import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';
import { setHeader } from '../responses/headers.ts';

/** An id that a proxy in front gave; anything else there might be meant for the log's readers. */
const GIVEN = /^[\w=-]{1,255}$/;

/** Names each request in its response and in the log. */
export const assignRequestId = createMiddleware<DeskEnv>(async (c, next) => {
  const given = c.req.header('x-request-id') ?? '';
  const id = GIVEN.test(given) ? given : randomUUID();
  c.set('requestId', id);
  setHeader(c, 'X-Request-Id', id);
  await next();
});
