import type { Env, Hono } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';

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
    router ??= routerOf(hono, base);
    const found = router.match('ALL', path)[0].map(([taken]) => taken);
    const own = found.filter(({ isOwn }) => isOwn);
    return allowOf(own.length > 0 ? own : found);
  };
}

/** The same for exact paths alone, without a look into a router; null for all others. */
export function allowedByExact<E extends Env>(hono: Hono<E>): Allowed {
  let values: Map<string, string | null> | null = null;
  return (path) => {
    values ??= new Map(
      [
        ...Map.groupBy(
          routesOf(hono).filter(({ isOwn }) => isOwn),
          (taken) => taken.path,
        ),
      ].map(([exact, taken]) => [exact, allowOf(taken)]),
    );
    return values.get(path) ?? null;
  };
}

function allowOf(found: readonly Taken[]): string | null {
  const methods = new Set(found.flatMap((taken) => taken.methods));
  return methods.size === 0 ? null : [...methods].sort().join(', ');
}

function routerOf<E extends Env>(hono: Hono<E>, base: string): TrieRouter<Taken> {
  const router = new TrieRouter<Taken>();
  for (const taken of routesOf(hono)) router.add('ALL', base + taken.path, taken);
  return router;
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
