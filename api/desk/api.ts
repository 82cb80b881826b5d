import { OpenAPIHono } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { loadBuild } from '../../src/desk/press/build.ts';
import { ORDERS, READS } from '../../src/shared/limits.ts';
import { VERSION } from '../../src/shared/project.ts';
import type { PaperContext, PaperEnv } from '../env.ts';
import type { Ask } from '../middleware/acting.ts';
import { allowedBy, answerUnmatched } from '../middleware/allow.ts';
import { proxyList } from '../middleware/caller.ts';
import { allowCrossOrigin, DESK } from '../middleware/cors.ts';
import { rejectInvalid, requireUtf8Query } from '../middleware/invalid.ts';
import { limitBody } from '../middleware/json-body.ts';
import { requireLevel, requireVisiblePaper } from '../middleware/key.ts';
import type { KeyUses } from '../middleware/key-uses.ts';
import { throttle } from '../middleware/throttle.ts';
import { CATALOG_PATH } from '../openapi/api-catalog.ts';
import { register } from '../openapi/route.ts';
import { isResponse } from '../responses/reply.ts';
import { registerConsole } from './console/routes.ts';
import { challengeClients, requireKeyOfHidden } from './oauth/metadata.ts';
import { securityOf } from './openapi/document.ts';
import { paperResponses } from './paper-responses.ts';
import type { Access } from './route.ts';
import { paperRoutes } from './routes.ts';
import type { Sites } from './site.ts';
import type { Writer } from './writing/write.ts';

/** Paths under a paper's root that have the same guards as the API. */
const TREES = [
  '/api',
  '/api/*',
  CATALOG_PATH,
  '/embed/*',
  '/evidence/*',
  '/oembed',
  '/mcp',
  '/mcp/*',
  '/.well-known/mcp/*',
];

const withoutKey = createMiddleware<PaperEnv>((c, next) => {
  c.set('key', null);
  return next();
});

/** Builds the News Desk API and its pages from `paperRoutes`. */
export async function deskApi(
  given: Omit<Writer, 'proxies'>,
  sites: Sites,
  uses: KeyUses,
  ask: Ask,
): Promise<OpenAPIHono<PaperEnv>> {
  const { app } = given;
  const router = new OpenAPIHono<PaperEnv>({ defaultHook: rejectInvalid });
  const build = await loadBuild();
  const responses = paperResponses(`${VERSION} ${build.stamp}`);
  const proxies = proxyList(app.settings.trustedProxies);
  const writer = { ...given, proxies };
  const reads = throttle<PaperEnv>(READS, proxies, { sparesLocal: true, sparesKeys: true });
  const allowed = allowedBy(router, '/:paper');
  const pages = allowCrossOrigin(DESK, allowed);
  router.use('/mcp', challengeClients(sites), requireKeyOfHidden(app, sites));
  // The OAuth documents and endpoints depend neither on a key nor on whether the paper exists.
  for (const tree of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource/*', '/oauth/*'])
    router.use(tree, pages, withoutKey, reads, requireUtf8Query, limitBody);
  for (const tree of TREES)
    router.use(tree, pages, requireVisiblePaper(app, sites.of, uses), reads, requireUtf8Query, limitBody);

  const registering = {
    router,
    enter: (access: Access) => (access === 'public' || access === 'token' ? [] : [requireLevel(access)]),
    accessInDocument: (access: Access) => ({ security: securityOf(access) }),
    send: (c: PaperContext, value: unknown) => (isResponse(value) ? value : responses.send(c, value)),
  };
  const orders = throttle<PaperEnv>(ORDERS, proxies, { sparesKeys: true });
  const parts = { app, writer, sites, build, responses, proxies, reads, orders, router, ask };
  registerConsole(router, parts);
  for (const route of paperRoutes(parts)) register(registering, route);
  answerUnmatched(
    router,
    allowed,
    (c) => `there is no route at ${c.req.path.slice(c.get('site').slug.length + 1, 200)}; GET /api/v1 lists all`,
    ['/api', '/api/*', '/mcp', '/mcp/*'],
  );
  return router;
}
