import type { Context } from 'hono';
import { securityHeaders } from '../../../src/press/feeds/headers.ts';
import { isLogPath } from '../../../src/transparency/log-paths.ts';
import type { DeskEnv } from '../../env.ts';
import { preflightOf } from '../../middleware/cors.ts';
import type { Sites } from '../site.ts';

/** The methods that static files support. */
export const FILE_METHODS = 'GET, HEAD, OPTIONS';

const PREFLIGHT = preflightOf({
  methods: 'GET, HEAD',
  sends: 'Authorization, X-NRF-Key, If-None-Match, If-Modified-Since, Range',
});

/** Answers OPTIONS by the address alone, so that existing and missing papers look the same. */
export function fileOptions(sites: Sites) {
  return (c: Context<DeskEnv>): Response => {
    const paths = [c.req.path, sites.of(c.env)?.path ?? ''];
    if (!paths.some(isOpen)) return c.body(null, 204, { Allow: FILE_METHODS });
    return c.body(null, 204, { ...PREFLIGHT, Allow: FILE_METHODS, 'Access-Control-Allow-Origin': '*' });
  };
}

function isOpen(path: string): boolean {
  if (path.startsWith('/log/') && isLogPath(path.slice('/log/'.length))) return true;
  return 'Access-Control-Allow-Origin' in securityHeaders(path, { root: '', embed_scripts: [] });
}
