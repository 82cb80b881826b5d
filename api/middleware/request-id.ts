import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';
import { setHeader } from '../responses/headers.ts';

/** Accepts a proxy's request id. Other values might be an attack on readers of the log. */
const GIVEN = /^[\w=-]{1,255}$/;

/** Puts an id of each request into its response and the log. */
export const assignRequestId = createMiddleware<DeskEnv>((c, next) => {
  const given = c.req.header('x-request-id') ?? '';
  const id = GIVEN.test(given) ? given : randomUUID();
  c.set('requestId', id);
  setHeader(c, 'X-Request-Id', id);
  return next();
});
