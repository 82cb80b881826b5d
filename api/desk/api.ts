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
import { tellProblems } from '../middleware/invalid.ts';
import { limitBody } from '../middleware/json-body.ts';
import { knowPaper } from '../middleware/key.ts';
import type { KeyUses } from '../middleware/key-uses.ts';
import { soundQuery } from '../middleware/query.ts';
import { refuseOthers } from '../middleware/refuse-others.ts';
import { throttle } from '../middleware/throttle.ts';
import { agentDoors } from './agent.ts';
import { CATALOG_PATH, catalogDoor } from './api-catalog.ts';
import { indexDoor } from './api-index.ts';
import { archiveDoors } from './archive.ts';
import { deliveryDoors } from './deliveries.ts';
import { deskDoors } from './desk.ts';
import type { Doors } from './doors.ts';
import { embedDoor } from './embed.ts';
import { filingDoors } from './filing.ts';
import { keyDoors } from './keys.ts';
import { newsroomDoors } from './newsroom.ts';
import { oembedDoor } from './oembed.ts';
import { openApiDoor } from './openapi.ts';
import { PaperResponses } from './paper-responses.ts';
import { playgroundDoor } from './playground.ts';
import { pressDoor } from './press.ts';
import { proofDoor } from './proof.ts';
import { searchDoor } from './search.ts';
import type { Sites } from './site.ts';
import { storyDoors } from './stories.ts';
import { readerDoors } from './subscribe.ts';

/** Where the doors stand under a paper's root. */
const TREES = ['/api', '/api/*', CATALOG_PATH, '/embed/*', '/oembed'];

export interface ApiParts {
  app: AppContext;
  sites: Sites;
  presses: PressQueue;
  uses: KeyUses;
  logger: Logger;
}

/** The News Desk API, all of its doors, as they stand under a paper's root. */
export async function deskApi({ app, sites, presses, uses, logger }: ApiParts): Promise<OpenAPIHono<PaperEnv>> {
  const router = new OpenAPIHono<PaperEnv>({ defaultHook: tellProblems });
  const build = await loadBuild();
  const doors: Doors = {
    router,
    app,
    presses,
    logger,
    prove: hostProver(app.settings),
    responses: new PaperResponses(`${VERSION} ${build.stamp}`),
  };
  const proxies = proxyList(app.settings.trustedProxies);
  const read = throttle<PaperEnv>(READS, proxies, { spares: hasKey, sparesLocal: true, sparesKeys: true });
  const allowed = allowedBy(router, '/:paper');
  const pages = allowCrossOrigin(DESK, allowed);
  for (const tree of TREES) router.use(tree, pages, knowPaper(app, sites.of, uses), read, soundQuery, limitBody);

  indexDoor(doors);
  storyDoors(doors);
  proofDoor(doors);
  archiveDoors(doors);
  searchDoor(doors);
  newsroomDoors(doors);
  embedDoor(doors, build);
  oembedDoor(doors);
  filingDoors(doors);
  pressDoor(doors);
  deskDoors(doors);
  keyDoors(doors);
  agentDoors(doors);
  readerDoors(doors, build.render, {
    sites,
    reads: read,
    orders: throttle<PaperEnv>(ORDERS, proxies, { spares: hasKey, sparesKeys: true }),
  });
  deliveryDoors(doors);
  openApiDoor(doors, VERSION);
  playgroundDoor(doors);
  catalogDoor(doors);
  refuseOthers(
    router,
    allowed,
    (c) => `there is no door at ${c.req.path.slice(c.get('site').slug.length + 1, 200)}; GET /api/v1 lists all`,
    ['/api', '/api/*'],
  );
  return router;
}

/** Who has a key is not counted by address. */
const hasKey = (c: PaperContext): boolean => c.get('key') !== null;
