import { createMiddleware } from 'hono/factory';
import type { DeskEnv } from '../env.ts';
import { respond, setHeader } from '../responses/headers.ts';
import type { Allowed } from './allow.ts';

/** What pages of other origins may do. */
export interface CorsRules {
  methods: string;
  /** Headers that they may send. */
  sends: string;
  /** Headers that they may read. */
  reads: string;
}

/** The news desk's. */
export const DESK: CorsRules = {
  methods: 'GET, HEAD, POST, PUT, DELETE',
  sends: 'Authorization, X-NRF-Key, Content-Type, Idempotency-Key, If-None-Match',
  reads: 'ETag, Link, Location, Retry-After, X-Request-Id',
};

/** The headers of a preflight's answer, but for the origin and `Allow`; a browser need not ask again for a day. */
export function preflightOf({ methods, sends }: Pick<CorsRules, 'methods' | 'sends'>): Record<string, string> {
  return {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': sends,
    'Access-Control-Max-Age': '86400',
  };
}

/**
 * Lets pages of every origin ask: nothing here depends on cookies, and a key is
 * a header that a page must hold. Preflights are answered alike for papers that
 * are there and papers that are not: only the path decides.
 */
export function allowCrossOrigin(rules: CorsRules, allowed: Allowed) {
  const preflight = preflightOf(rules);
  return createMiddleware<DeskEnv>(async (c, next) => {
    setHeader(c, 'Access-Control-Allow-Origin', '*');
    if (c.req.method === 'OPTIONS')
      return respond(c, null, 204, { ...preflight, Allow: allowed(c.req.path) ?? 'OPTIONS' });
    setHeader(c, 'Access-Control-Expose-Headers', rules.reads);
    return next();
  });
}
