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

/** Headers that clients of MCP send. */
export const MCP_SENDS = 'MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name';

/** CORS rules of the news desk. */
export const DESK: CorsRules = {
  methods: 'GET, HEAD, POST, PUT, DELETE',
  sends: `Authorization, X-NRF-Key, Content-Type, Idempotency-Key, If-None-Match, ${MCP_SENDS}`,
  reads: 'ETag, Link, Location, Retry-After, WWW-Authenticate, X-Request-Id',
};

/** The headers of a preflight response, without the origin and `Allow`. Browsers may cache them for a day. */
export function preflightOf({ methods, sends }: Pick<CorsRules, 'methods' | 'sends'>): Record<string, string> {
  return {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': sends,
    'Access-Control-Max-Age': '86400',
  };
}

/** Allows every origin: nothing depends on cookies. Preflights depend on the path, and hide which papers exist. */
export function allowCrossOrigin(rules: CorsRules, allowed: Allowed) {
  const preflight = preflightOf(rules);
  return createMiddleware<DeskEnv>((c, next) => {
    setHeader(c, 'Access-Control-Allow-Origin', '*');
    if (c.req.method === 'OPTIONS')
      return Promise.resolve(respond(c, null, 204, { ...preflight, Allow: allowed(c.req.path) ?? 'OPTIONS' }));
    setHeader(c, 'Access-Control-Expose-Headers', rules.reads);
    return next();
  });
}
