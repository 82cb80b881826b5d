import type { Context, Env, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { Fault } from '../../src/fault.ts';
import { setHeader } from '../responses/headers.ts';
import type { Allowed } from './allow.ts';

/**
 * Answers requests that no route matches; register it last. A wrong method gets 405 with the allowed methods, as
 * OPTIONS does; an unknown path gets 404 with the given message.
 */
export function answerUnmatched<E extends Env>(
  router: Hono<E>,
  allowed: Allowed,
  words: (c: Context<E>) => string,
  trees = ['*'],
): void {
  const paths = new Set(router.routes.filter(({ method }) => method !== 'ALL').map(({ path }) => path));
  for (const path of paths) {
    router.all(path, (c) => {
      const methods = allowed(c.req.path) ?? 'OPTIONS';
      setHeader(c, 'Allow', methods);
      if (c.req.method === 'OPTIONS') return c.body(null, 204);
      throw methodNotAllowed(c.req.method, methods);
    });
  }
  for (const tree of trees) {
    router.all(tree, (c) => {
      throw new Fault('not_found', words(c));
    });
  }
}

/**
 * Rejects other methods at a path without parameters, even if another route's pattern accepts them: `DELETE
 * /queue/lease` does not match `DELETE /queue/:lease`. Register it before the routes.
 */
export function limitMethods(allowed: Allowed) {
  return createMiddleware((c, next) => {
    const methods = allowed(c.req.path);
    if (methods !== null && !methods.split(', ').includes(c.req.method)) {
      setHeader(c, 'Allow', methods);
      throw methodNotAllowed(c.req.method, methods);
    }
    return next();
  });
}

function methodNotAllowed(method: string, methods: string): Fault {
  return new Fault('method_not_allowed', `${method} is not allowed here; use ${methods}`);
}
