import { OpenAPIHono } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { loadBuild } from '../../src/app/build.ts';
import { openCheckout } from '../../src/app/checkout.ts';
import type { AppContext } from '../../src/app/context.ts';
import { READS } from '../../src/limits.ts';
import type { RecordsEnv } from '../env.ts';
import type { Ask } from '../mcp/call.ts';
import { mcpDoor } from '../mcp/door.ts';
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
import { analyticsPage } from './analytics-page.ts';
import { bqDoors } from './bq.ts';
import { buyCreditsDoor } from './buy-credits.ts';
import { catalogDoor } from './catalog.ts';
import { creditsDoor } from './credits.ts';
import { docsPage } from './docs-page.ts';
import type { RecordsDoors } from './doors.ts';
import { enrichBatchDoor } from './enrich-batch.ts';
import { recordsFiles } from './files.ts';
import { healthDoor } from './health.ts';
import { keyedLane } from './lanes/keyed.ts';
import { keylessLane } from './lanes/keyless.ts';
import { menuLane } from './lanes/menu.ts';
import { paidLane } from './lanes/paid.ts';
import { countRefusals } from './lanes/refusals.ts';
import { nameListDoors } from './name-lists.ts';
import { openApiDoors } from './openapi/door.ts';
import { playgroundDoor } from './openapi/playground.ts';
import { CORS } from './openness.ts';
import { operatorDoors } from './operator.ts';
import { publicPages } from './public-pages.ts';
import { queueDoors } from './queue.ts';
import { queueResultsDoor } from './queue-results.ts';
import { readDoors } from './reads.ts';
import { searchPage } from './search-page.ts';
import { signingKeysDoor } from './signing-keys.ts';
import { streamDoor } from './stream/door.ts';
import type { ChangeFeed } from './stream/feed.ts';
import { usageDoor } from './usage.ts';
import { verifyDoor } from './verify.ts';

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
  const till = await openCheckout(app);
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
