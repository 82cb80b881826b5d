import { OpenAPIHono } from '@hono/zod-openapi';
import { createCheckout } from '../../src/records/checkout.ts';
import { plansOnSale } from '../../src/records/plans.ts';
import { READS } from '../../src/shared/limits.ts';
import type { RecordsEnv } from '../env.ts';
import { allowedBy, allowedByExact, answerUnmatched, limitMethods } from '../middleware/allow.ts';
import { proxyList } from '../middleware/caller.ts';
import { allowCrossOrigin, type CorsRules, MCP_SENDS } from '../middleware/cors.ts';
import { rejectInvalid, requireUtf8Query } from '../middleware/invalid.ts';
import type { KeyUses } from '../middleware/key-uses.ts';
import { laneMiddleware } from '../middleware/lane.ts';
import { readSession } from '../middleware/session.ts';
import { throttle } from '../middleware/throttle.ts';
import { register } from '../openapi/route.ts';
import { signInUrl } from './lanes/addresses.ts';
import { keyedLane } from './lanes/keyed.ts';
import { keylessLane } from './lanes/keyless.ts';
import { menuLane } from './lanes/menu.ts';
import { paidLane } from './lanes/paid.ts';
import { countRefusals } from './lanes/payment.ts';
import { referToNode } from './other-node.ts';
import type { RecordsContext, RecordsRoute } from './route.ts';
import { type RecordsParts, recordsRoutes } from './routes.ts';
import { sendValue } from './send.ts';

const CROSS_ORIGIN = [
  '/v1/*',
  '/mcp/*',
  '/.well-known/*',
  '/badge/*',
  '/changes.json',
  '/changes.rss',
  '/health',
  '/ready',
  '/t/*',
  '/changes/*',
  '/llms.txt',
  '/SKILL.md',
  '/sitemap.xml',
  '/log/*',
  '/dumps/*',
];

/** The router of the domain records, at the root of their own host, with its URL map and middleware. */
export async function recordsApi(parts: RecordsParts & { uses: KeyUses }) {
  const { app, uses, logger } = parts;
  const { store, settings, clock } = app;
  const router = new OpenAPIHono<RecordsEnv>({ defaultHook: rejectInvalid });
  const proxies = proxyList(settings.trustedProxies);
  const checkout = await createCheckout(app);
  const refusals = countRefusals(proxies);
  const enter = laneMiddleware({
    keys: store.records.serviceKeys,
    uses,
    now: clock.now,
    signInUrl: signInUrl(settings),
    handlers: {
      public: throttle<RecordsEnv>(READS, proxies, { sparesLocal: true, sparesKeys: true }),
      keyless: keylessLane(app),
      keyed: keyedLane(app, logger),
      menu: menuLane(settings),
      paid: paidLane({ refusals, checkout, settings, logger, signer: app.signer }),
    },
  });
  const allowed = allowedBy(router);
  const crossOrigin = allowCrossOrigin(CORS, allowed);
  for (const tree of CROSS_ORIGIN) router.use(tree, crossOrigin);
  router.use(requireUtf8Query);
  if (settings.nodes !== null) router.use(referToNode(app));
  router.use((c, next) => {
    c.set('plans', () => plansOnSale(app));
    return next();
  });
  router.use(readSession(app));
  router.use(limitMethods(allowedByExact(router)));

  const routes = recordsRoutes(parts, { checkout, refusals, router });
  const registering = {
    router,
    enter: (access: RecordsRoute[2]) => (access === 'static' ? [] : [enter(access)]),
    accessInDocument: (access: RecordsRoute[2]) => ({ 'x-access': access }),
    send: (c: RecordsContext, value: unknown) => sendValue(c, value, settings.dataOrigin),
  };
  for (const route of routes) register(registering, route);
  answerUnmatched(router, allowed, () => 'there is nothing at this address; GET /docs lists every endpoint');
  return { router, routes };
}

export const CORS: CorsRules = {
  methods: 'GET, HEAD, POST, PATCH, DELETE',
  sends: [
    'Authorization, X-Service-Key, X-PAYMENT, PAYMENT-SIGNATURE, Content-Type, If-None-Match, Last-Event-ID, Prefer',
    'Range, If-Range',
    'Idempotency-Key',
    MCP_SENDS,
  ].join(', '),
  reads: [
    'ETag, Link, Location, Retry-After, X-Request-Id, X-PAYMENT-RESPONSE, PAYMENT-REQUIRED, PAYMENT-RESPONSE',
    'Preference-Applied',
    'RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset',
    'X-Service-Usage, X-Service-Usage-Day, X-Service-Usage-Period, X-Service-Daily-Allowance, X-Service-Daily-Remaining',
    'X-Service-Daily-Reset, X-Service-Credits-Allowance, X-Service-Credits-Used, X-Service-Credits-Remaining',
    'X-Service-Credits-Reset, X-Service-Allowance, X-Service-Remaining, X-Service-Reset, X-Service-Burst',
  ].join(', '),
};
