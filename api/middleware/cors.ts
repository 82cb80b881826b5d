import { createMiddleware } from 'hono/factory';
import type { PaperEnv } from '../env.ts';

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, X-NRF-Key, Content-Type, Idempotency-Key, If-None-Match',
  'Access-Control-Max-Age': '86400',
  Allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
};

/**
 * Lets pages of every origin ask: nothing here depends on cookies, and a key is
 * a header that a page must hold. Preflights are answered alike for papers that
 * are there and papers that are not. Set on Node's own response, as in request-id.ts.
 */
export const openToPages = createMiddleware<PaperEnv>(async (c, next) => {
  const { outgoing } = c.env;
  outgoing.setHeader('Access-Control-Allow-Origin', '*');
  if (c.req.method === 'OPTIONS') return c.body(null, 204, PREFLIGHT);
  outgoing.setHeader('Access-Control-Expose-Headers', 'ETag, Link, Retry-After, X-Request-Id');
  return next();
});
