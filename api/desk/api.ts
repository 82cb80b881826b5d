import { OpenAPIHono } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { loadBuild } from '../../src/app/build.ts';
import type { AppContext } from '../../src/app/context.ts';
import type { PressQueue } from '../../src/app/press-queue.ts';
import { ORDERS, READS } from '../../src/limits.ts';
import { hostProver } from '../../src/net/host-proof.ts';
import { VERSION } from '../../src/project.ts';
import type { PaperContext, PaperEnv } from '../env.ts';
import { allowedBy } from '../middleware/allow.ts';
import { proxyList } from '../middleware/caller.ts';
import { allowCrossOrigin, DESK } from '../middleware/cors.ts';
import { rejectInvalid } from '../middleware/invalid.ts';
import { limitBody } from '../middleware/json-body.ts';
import { requireVisiblePaper } from '../middleware/key.ts';
import type { KeyUses } from '../middleware/key-uses.ts';
import { requireUtf8Query } from '../middleware/query.ts';
import { throttle } from '../middleware/throttle.ts';
import { answerUnmatched } from '../middleware/unmatched.ts';
import { CATALOG_PATH } from '../openapi/api-catalog.ts';
import { openApiRoutes } from './openapi/document.ts';
import { playgroundRoutes } from './openapi/playground.ts';
import { PaperResponses } from './paper-responses.ts';
import { catalogRoutes } from './reading/api-catalog.ts';
import { indexRoutes } from './reading/api-index.ts';
import { archiveRoutes } from './reading/archive.ts';
import { embedRoutes } from './reading/embed.ts';
import { newsroomRoutes } from './reading/newsroom.ts';
import { oembedRoutes } from './reading/oembed.ts';
import { proofRoutes } from './reading/proof.ts';
import { searchRoutes } from './reading/search.ts';
import { storyRoutes } from './reading/stories.ts';
import { PaperRoutes } from './router.ts';
import type { Sites } from './site.ts';
import { readerRoutes } from './subscribers/reader-routes.ts';
import { deliveryRoutes } from './webhooks/deliveries.ts';
import { agentRoutes } from './writing/agent.ts';
import { deskRoutes } from './writing/config.ts';
import { filingRoutes } from './writing/filing.ts';
import { frontRoutes } from './writing/front.ts';
import { keyRoutes } from './writing/keys.ts';
import { mediaRoutes } from './writing/media.ts';
import { pageRoutes } from './writing/pages.ts';
import { pressRoutes } from './writing/press.ts';
import { previewRoutes } from './writing/preview.ts';
import { previewPages } from './writing/preview-page.ts';
import type { Writer } from './writing/write.ts';

/** Paths under a paper's root that have the same guards as the API. */
const TREES = ['/api', '/api/*', CATALOG_PATH, '/embed/*', '/oembed'];

export interface ApiParts {
  app: AppContext;
  sites: Sites;
  presses: PressQueue;
  uses: KeyUses;
  logger: Logger;
}

/** Builds the News Desk API and its pages from `PAPER_ROUTES`. */
export async function deskApi({ app, sites, presses, uses, logger }: ApiParts): Promise<OpenAPIHono<PaperEnv>> {
  const router = new OpenAPIHono<PaperEnv>({ defaultHook: rejectInvalid });
  const build = await loadBuild();
  const routes = new PaperRoutes(router, new PaperResponses(`${VERSION} ${build.stamp}`));
  const writer: Writer = { app, presses, logger };
  const proxies = proxyList(app.settings.trustedProxies);
  const read = throttle<PaperEnv>(READS, proxies, { spares: hasKey, sparesLocal: true, sparesKeys: true });
  const allowed = allowedBy(router, '/:paper');
  const pages = allowCrossOrigin(DESK, allowed);
  for (const tree of TREES)
    router.use(tree, pages, requireVisiblePaper(app, sites.of, uses), read, requireUtf8Query, limitBody);

  indexRoutes(routes);
  storyRoutes(routes, app);
  proofRoutes(routes, app);
  archiveRoutes(routes, app);
  searchRoutes(routes, app, sites, proxies);
  newsroomRoutes(routes, app);
  embedRoutes(routes, app, build);
  oembedRoutes(routes, app);
  filingRoutes(routes, writer);
  previewRoutes(routes, app, build.render);
  previewPages(routes, app, build, { sites, reads: read });
  pressRoutes(routes, app);
  frontRoutes(routes, writer);
  deskRoutes(routes, writer, hostProver(app.settings));
  mediaRoutes(routes, writer);
  pageRoutes(routes, writer);
  keyRoutes(routes, writer);
  agentRoutes(routes, writer);
  readerRoutes(routes, writer, build.render, {
    sites,
    reads: read,
    orders: throttle<PaperEnv>(ORDERS, proxies, { spares: hasKey, sparesKeys: true }),
  });
  deliveryRoutes(routes, writer);
  openApiRoutes(routes, app, VERSION);
  playgroundRoutes(routes);
  catalogRoutes(routes);
  routes.wire();
  answerUnmatched(
    router,
    allowed,
    (c) => `there is no route at ${c.req.path.slice(c.get('site').slug.length + 1, 200)}; GET /api/v1 lists all`,
    ['/api', '/api/*'],
  );
  return router;
}

/** Callers with a key are exempt from the limit per address. */
const hasKey = (c: PaperContext): boolean => c.get('key') !== null;
