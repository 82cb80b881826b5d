import type { Context } from 'hono';
import { routePath } from 'hono/route';

/** Route patterns as documents write them, by Hono's. There are as many as routes. */
const patterns = new Map<string, string>();

/**
 * The pattern of the route that answered, as in `/{paper}/api/v1/stories/{id}`; for a request that middleware rejected,
 * the pattern of the middleware. Call it after the handlers.
 */
export function answeringRoute(c: Context): string {
  const path = routePath(c);
  let pattern = patterns.get(path);
  if (pattern === undefined) {
    pattern = path.replace(/:(\w+)/g, '{$1}');
    patterns.set(path, pattern);
  }
  return pattern;
}
