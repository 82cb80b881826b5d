import type { Env, Hono } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';

/** Returns the `Allow` value of a path, such as `GET, HEAD, OPTIONS`; null for a path without a route. */
export type Allowed = (path: string) => string | null;

/** The methods of one route. `isOwn`: its path has no parameter. */
interface Taken {
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
    router ??= routerOf(hono, base);
    const found = router.match('ALL', path)[0].map(([taken]) => taken);
    const own = found.filter(({ isOwn }) => isOwn);
    const methods = new Set((own.length > 0 ? own : found).flatMap((taken) => taken.methods));
    return methods.size === 0 ? null : [...methods].sort().join(', ');
  };
}

function routerOf<E extends Env>(hono: Hono<E>, base: string): TrieRouter<Taken> {
  const router = new TrieRouter<Taken>();
  for (const { path, method } of hono.routes) {
    // Middleware and catch-all handlers.
    if (method === 'ALL') continue;
    const methods = method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [method, 'OPTIONS'];
    router.add('ALL', base + path, { methods, isOwn: !/[:*]/.test(path) });
  }
  return router;
}
