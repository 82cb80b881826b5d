import type { Context } from 'hono';
import { routePath } from 'hono/route';

/**
 * The pattern of the route that answered as documents write it, such as `/{paper}/api/v1/stories/{id}`; for a request
 * that middleware rejected, the pattern of the middleware. Call it after the handlers.
 */
export const answeringRoute = (c: Context): string => routePath(c).replace(/:(\w+)/g, '{$1}');
