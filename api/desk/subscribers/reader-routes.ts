import type { MiddlewareHandler } from 'hono';
import { linkKey } from '../../../src/app/link-key.ts';
import type { Render } from '../../../src/press/output.ts';
import type { PaperEnv } from '../../env.ts';
import type { PaperRoutes } from '../router.ts';
import type { Sites } from '../site.ts';
import type { Writer } from '../writing/write.ts';
import { subscribePages } from './pages.ts';
import { subscriberRoutes } from './subscribers.ts';
import { ReaderPages } from './view.ts';

interface Around {
  sites: Sites;
  /** Limits each caller's reads and subscription requests. */
  reads: MiddlewareHandler<PaperEnv>;
  orders: MiddlewareHandler<PaperEnv>;
}

/** Everything for readers: the API routes, and the pages that mailed links open. */
export function readerRoutes(
  routes: PaperRoutes,
  writer: Writer,
  render: Render,
  { sites, reads, orders }: Around,
): void {
  const { app } = writer;
  const secret = linkKey(app.settings, 'readers');
  const parts = { secret, pages: new ReaderPages(app, render), throttle: orders };
  subscriberRoutes(routes, writer, parts);
  subscribePages(routes, app, parts, sites, reads);
}
