import { OpenAPIHono } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { Fault } from '../../src/fault.ts';
import { shapeProblems } from '../../src/ledger/filing.ts';
import { loadBuild, VERSION } from '../../src/works/build.ts';
import type { Presses } from '../../src/works/presses.ts';
import type { Workshop } from '../../src/works/workshop.ts';
import type { PaperEnv } from '../env.ts';
import { proxyList } from '../middleware/caller.ts';
import { openToPages } from '../middleware/cors.ts';
import { limitBody } from '../middleware/json-body.ts';
import { knowPaper } from '../middleware/key.ts';
import type { KeyUses } from '../middleware/key-uses.ts';
import { soundQuery } from '../middleware/query.ts';
import { ORDERS, READS, throttle } from '../middleware/throttle.ts';
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
import { playgroundDoor } from './playground.ts';
import { pressDoor } from './press.ts';
import { proofDoor } from './proof.ts';
import { searchDoor } from './search.ts';
import { Shelf } from './shelf.ts';
import type { Sites } from './site.ts';
import { storyDoors } from './stories.ts';
import { readerDoors } from './subscribe.ts';

/** Where the doors stand under a paper's root. */
const TREES = ['/api', '/api/*', CATALOG_PATH, '/embed/*', '/oembed'];

/** How many problems of a malformed request are told at once. */
const PROBLEMS_MAX = 100;

export interface ApiParts {
  shop: Workshop;
  sites: Sites;
  presses: Presses;
  uses: KeyUses;
  logger: Logger;
}

/** The News Desk API, all of its doors, as they stand under a paper's root. */
export async function deskApi({ shop, sites, presses, uses, logger }: ApiParts): Promise<OpenAPIHono<PaperEnv>> {
  const app = new OpenAPIHono<PaperEnv>({
    defaultHook: (result) => {
      if (result.success) return;
      // The hook is handed what came in too; its type forgets that.
      const problems = shapeProblems(result.error, (result as { data?: unknown }).data).slice(0, PROBLEMS_MAX);
      const [first] = problems;
      throw new Fault('invalid_request', `${first?.field}: ${first?.message}`, { field: first?.field, problems });
    },
  });
  const build = await loadBuild();
  const doors: Doors = { app, shop, presses, logger, shelf: new Shelf(`${VERSION} ${build.stamp}`) };
  const proxies = proxyList(shop.settings.trustedProxies);
  const read = throttle(READS, proxies, { sparesLocal: true });
  for (const tree of TREES) app.use(tree, openToPages, knowPaper(shop, sites, uses), read, soundQuery, limitBody);

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
  readerDoors(doors, build.render, { sites, reads: read, orders: throttle(ORDERS, proxies) });
  deliveryDoors(doors);
  openApiDoor(doors, VERSION);
  playgroundDoor(doors);
  catalogDoor(doors);
  refuseTheRest(app);
  return app;
}

/** What no door takes: another method answers 405 and names those that there are, another path 404. */
function refuseTheRest(app: OpenAPIHono<PaperEnv>): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue;
    const known = methods.get(path) ?? new Set(['OPTIONS']);
    methods.set(path, known.add(method));
    if (method === 'GET') known.add('HEAD');
  }
  for (const [path, known] of methods) {
    const allowed = [...known].sort().join(', ');
    app.all(path, (c) => {
      c.header('Allow', allowed);
      throw new Fault('method_not_allowed', `${c.req.method} is not taken here; use ${allowed}`);
    });
  }
  for (const tree of ['/api', '/api/*']) {
    app.all(tree, (c) => {
      const { slug } = c.get('site');
      throw new Fault(
        'not_found',
        `there is no door at ${c.req.path.slice(slug.length + 1, 200)}; GET /api/v1 lists all`,
      );
    });
  }
}
