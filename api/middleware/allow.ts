import type { Context, Env, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { TrieRouter } from 'hono/router/trie-router';
import { Fault } from '../../src/shared/fault.ts';
import { setHeader } from '../responses/headers.ts';

/** Returns the `Allow` value of a path, such as `GET, HEAD, OPTIONS`; null for a path without a route. */
export type Allowed = (path: string) => string | null;

/** The methods of one route. `isOwn`: its path has no parameter. */
interface Taken {
  path: string;
  methods: string[];
  isOwn: boolean;
}

/**
 * Derives the methods of each address from an app's routes, with HEAD where GET exists, and OPTIONS everywhere. An
 * exact path takes precedence over a pattern that also matches, as in OpenAPI. `base` is the app's mount path. Routes
 * are read on the first call, because they are registered after this function is called.
 */
export function allowedBy<E extends Env>(hono: Hono<E>, base = ''): Allowed {
  let router: TrieRouter<Taken> | null = null;
  return (path) => {
    if (router === null) {
      router = new TrieRouter<Taken>();
      for (const taken of routesOf(hono)) router.add('ALL', base + taken.path, taken);
    }
    const found = router.match('ALL', path)[0].map(([taken]) => taken);
    const own = found.filter(({ isOwn }) => isOwn);
    return allowOf(own.length > 0 ? own : found);
  };
}

/** The same for exact paths only, without asking a router; null for all others. */
export function allowedByExact<E extends Env>(hono: Hono<E>): Allowed {
  let byPath: Map<string, Taken[]> | null = null;
  return (path) => {
    byPath ??= Map.groupBy(routesOf(hono), (taken) => taken.path);
    return allowOf((byPath.get(path) ?? []).filter(({ isOwn }) => isOwn));
  };
}

function allowOf(found: readonly Taken[]): string | null {
  const methods = new Set(found.flatMap((taken) => taken.methods));
  return methods.size === 0 ? null : [...methods].sort().join(', ');
}

function routesOf<E extends Env>(hono: Hono<E>): Taken[] {
  return hono.routes
    .filter(({ method }) => method !== 'ALL') // Middleware and catch-all handlers.
    .map(({ path, method }) => ({
      path,
      methods: method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [method, 'OPTIONS'],
      isOwn: !/[:*]/.test(path),
    }));
}

/** Answers what no route matches: 405 for a wrong method, 404 for an unknown path. Register it last. */
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

/** Rejects `DELETE /queue/lease` although `DELETE /queue/:lease` accepts it. Register it before the routes. */
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
