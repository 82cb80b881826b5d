import { OpenAPIHono } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { loadBuild } from '../../src/app/build.ts';
import type { AppContext } from '../../src/app/context.ts';
import type { PressQueue } from '../../src/app/press-queue.ts';
import { ORDERS, READS } from '../../src/limits.ts';
import { VERSION } from '../../src/project.ts';
import type { PaperContext, PaperEnv } from '../env.ts';
import { allowedBy } from '../middleware/allow.ts';
import { proxyList } from '../middleware/caller.ts';
import { allowCrossOrigin, DESK } from '../middleware/cors.ts';
import { rejectInvalid } from '../middleware/invalid.ts';
import { limitBody } from '../middleware/json-body.ts';
import { requireLevel, requireVisiblePaper } from '../middleware/key.ts';
import type { KeyUses } from '../middleware/key-uses.ts';
import { requireUtf8Query } from '../middleware/query.ts';
import { throttle } from '../middleware/throttle.ts';
import { answerUnmatched } from '../middleware/unmatched.ts';
import { CATALOG_PATH } from '../openapi/api-catalog.ts';
import { register } from '../openapi/route.ts';
import { isResponse } from '../responses/reply.ts';
import { securityOf } from './openapi/levels.ts';
import { PaperResponses } from './paper-responses.ts';
import type { Access } from './route.ts';
import { paperRoutes } from './routes.ts';
import type { Sites } from './site.ts';
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

/** Builds the News Desk API and its pages from `paperRoutes`. */
export async function deskApi({ app, sites, presses, uses, logger }: ApiParts): Promise<OpenAPIHono<PaperEnv>> {
  const router = new OpenAPIHono<PaperEnv>({ defaultHook: rejectInvalid });
  const build = await loadBuild();
  const responses = new PaperResponses(`${VERSION} ${build.stamp}`);
  const writer: Writer = { app, presses, logger };
  const proxies = proxyList(app.settings.trustedProxies);
  const reads = throttle<PaperEnv>(READS, proxies, { spares: hasKey, sparesLocal: true, sparesKeys: true });
  const allowed = allowedBy(router, '/:paper');
  const pages = allowCrossOrigin(DESK, allowed);
  for (const tree of TREES)
    router.use(tree, pages, requireVisiblePaper(app, sites.of, uses), reads, requireUtf8Query, limitBody);

  const registering = {
    router,
    enter: (access: Access) => (access === 'public' || access === 'token' ? [] : [requireLevel(access)]),
    accessInDocument: (access: Access) => ({ security: securityOf(access) }),
    send: (c: PaperContext, value: unknown) => (isResponse(value) ? value : responses.send(c, value)),
  };
  const orders = throttle<PaperEnv>(ORDERS, proxies, { spares: hasKey, sparesKeys: true });
  const parts = { writer, sites, build, responses, proxies, reads, orders, router };
  for (const route of paperRoutes(parts)) register(registering, route);
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
