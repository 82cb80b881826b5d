import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';
import { setHeader } from '../responses/headers.ts';

/** Accepts a proxy's request id. Other values might be an attack on readers of the log. */
const GIVEN = /^[\w=-]{1,255}$/;

/** The id that a proxy gave, or a new one. */
export function requestIdOf(given: unknown): string {
  return typeof given === 'string' && GIVEN.test(given) ? given : randomUUID();
}

/** Puts an id of each request into its response and the log. */
export const assignRequestId = createMiddleware<DeskEnv>((c, next) => {
  const id = requestIdOf(c.req.header('x-request-id'));
  c.set('requestId', id);
  setHeader(c, 'X-Request-Id', id);
  return next();
});
