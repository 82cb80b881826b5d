import { OpenAPIHono } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { loadBuild } from '../../src/app/build.ts';
import { createCheckout } from '../../src/app/checkout.ts';
import type { AppContext } from '../../src/app/context.ts';
import { READS } from '../../src/limits.ts';
import type { RecordsEnv } from '../env.ts';
import type { Ask } from '../mcp/call.ts';
import { mcpDoor } from '../mcp/endpoint.ts';
import { allowedBy } from '../middleware/allow.ts';
import { proxyList } from '../middleware/caller.ts';
import { allowCrossOrigin } from '../middleware/cors.ts';
import { tellProblems } from '../middleware/invalid.ts';
import type { KeyUses } from '../middleware/key-uses.ts';
import { enterBy } from '../middleware/lane.ts';
import { soundQuery } from '../middleware/query.ts';
import { refuseOthers } from '../middleware/refuse-others.ts';
import { readSession } from '../middleware/session.ts';
import { throttle } from '../middleware/throttle.ts';
import { accountDoors } from './account/account.ts';
import { CORS } from './cors.ts';
import { keyedLane } from './lanes/keyed.ts';
import { keylessLane } from './lanes/keyless.ts';
import { menuLane } from './lanes/menu.ts';
import { paidLane } from './lanes/paid.ts';
import { countRefusals } from './lanes/refusals.ts';
import { openApiDoors } from './openapi/document.ts';
import { playgroundDoor } from './openapi/playground.ts';
import { operatorDoors } from './operator/domains.ts';
import { enrichBatchDoor } from './operator/enrich-batch.ts';
import { bqDoors } from './operator/query.ts';
import { queueDoors } from './operator/queue.ts';
import { queueResultsDoor } from './operator/queue-results.ts';
import { analyticsPage } from './pages/analytics.ts';
import { recordsFiles } from './pages/assets.ts';
import { docsPage } from './pages/docs.ts';
import { catalogDoor } from './pages/domains.ts';
import { nameListDoors } from './pages/facets.ts';
import { searchPage } from './pages/search.ts';
import { verifyDoor } from './pages/verify.ts';
import { publicPages } from './public-pages.ts';
import { readDoors } from './reads.ts';
import type { RecordsDoors } from './route.ts';
import type { ChangeFeed } from './stream/feed.ts';
import { streamDoor } from './stream/stream.ts';
import { creditsDoor } from './v1/credits.ts';
import { healthDoor } from './v1/health.ts';
import { buyCreditsDoor } from './v1/purchase.ts';
import { signingKeysDoor } from './v1/signing-keys.ts';
import { usageDoor } from './v1/usage.ts';

export interface RecordsParts {
  app: AppContext;
  uses: KeyUses;
  logger: Logger;
  /** The changes as they are entered, for the stream. */
  feed: ChangeFeed;
  /** Puts a request to the whole service once more: how a tool of MCP asks its door. */
  ask: Ask;
}

/** What programs of other origins may ask, whoever they are. */
const OPEN_TREES = [
  '/v1/*',
  '/mcp/*',
  '/.well-known/*',
  '/badge/*',
  '/changes.json',
  '/changes.rss',
  '/health',
  '/t/*',
  '/changes/*',
];

/** The domain records: every door and page, at the root of their own host. */
export async function recordsApi({ app, uses, logger, feed, ask }: RecordsParts): Promise<OpenAPIHono<RecordsEnv>> {
  const router = new OpenAPIHono<RecordsEnv>({ defaultHook: tellProblems });
  const build = await loadBuild();
  const { store, settings, now } = app;
  const proxies = proxyList(settings.trustedProxies);
  const counted = throttle<RecordsEnv>(READS, proxies, {
    spares: (c) => c.get('key') !== null,
    sparesLocal: true,
    sparesKeys: true,
  });
  const till = createCheckout(app);
  const refusals = countRefusals(proxies);
  const enter = enterBy({
    keys: store.serviceKeys,
    uses,
    now,
    signInUrl: `${settings.dataOrigin}/account`,
    works: {
      public: counted,
      keyless: keylessLane(app),
      keyed: keyedLane(app, logger),
      menu: menuLane(settings),
      paid: paidLane({ refusals, till, settings, logger }),
    },
  });
  const doors: RecordsDoors = { router, app, logger, build, enter };
  const allowed = allowedBy(router);
  const pages = allowCrossOrigin(CORS, allowed);
  for (const tree of OPEN_TREES) router.use(tree, pages);
  router.use(soundQuery);
  router.use(readSession(app));

  healthDoor(doors);
  signingKeysDoor(doors);
  publicPages(doors);
  verifyDoor(doors);
  catalogDoor(doors);
  nameListDoors(doors);
  analyticsPage(doors);
  searchPage(doors);
  docsPage(doors);
  queueDoors(doors);
  queueResultsDoor(doors);
  operatorDoors(doors);
  enrichBatchDoor(doors);
  bqDoors(doors);
  readDoors(doors);
  usageDoor(doors);
  creditsDoor(doors);
  buyCreditsDoor(doors, { till, refusals });
  streamDoor(doors, feed);
  openApiDoors(doors);
  playgroundDoor(doors);
  accountDoors(doors);
  mcpDoor(doors, ask);
  recordsFiles(doors);
  refuseOthers(router, allowed, () => 'there is nothing at this address; GET /docs lists the doors');
  return router;
}
