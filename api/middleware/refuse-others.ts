import type { Context, Env, Hono } from 'hono';
import { Fault } from '../../src/fault.ts';

/**
 * What no door of an app takes, added last: another method answers 405 and
 * names those that there are, as OPTIONS does; another path 404 with the words given.
 */
export function refuseOthers<E extends Env>(app: Hono<E>, words: (c: Context<E>) => string, trees = ['*']): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue;
    const known = methods.get(path) ?? new Set(['OPTIONS']);
    methods.set(path, known.add(method));
    if (method === 'GET') known.add('HEAD');
  }
  // An address of its own goes before a pattern that it fits too.
  const inOrder = [...methods].sort(([a], [b]) => Number(a.includes(':')) - Number(b.includes(':')));
  for (const [path, known] of inOrder) {
    const allowed = [...known].sort().join(', ');
    app.all(path, (c) => {
      c.header('Allow', allowed);
      if (c.req.method === 'OPTIONS') return c.body(null, 204);
      throw new Fault('method_not_allowed', `${c.req.method} is not taken here; use ${allowed}`);
    });
  }
  for (const tree of trees) {
    app.all(tree, (c) => {
      throw new Fault('not_found', words(c));
    });
  }
}
