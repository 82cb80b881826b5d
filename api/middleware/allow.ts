import type { Env, Hono } from 'hono';
import { TrieRouter } from 'hono/router/trie-router';

/** The value of `Allow` for a path, as in `GET, HEAD, OPTIONS`; null where no route is. */
export type Allowed = (path: string) => string | null;

/** What one route takes; `isOwn` where its path has no parameter. */
interface Taken {
  methods: string[];
  isOwn: boolean;
}

/**
 * Reads from an app's routes what each address takes: HEAD where GET is, and
 * OPTIONS everywhere. An address of its own goes before a pattern that it fits
 * too, as in OpenAPI. `base` is where the app is mounted. The routes are read
 * when it is first asked, for they are registered later than what asks.
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
    // Middleware, and what answers for all that is left.
    if (method === 'ALL') continue;
    const methods = method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [method, 'OPTIONS'];
    router.add('ALL', base + path, { methods, isOwn: !/[:*]/.test(path) });
  }
  return router;
}
