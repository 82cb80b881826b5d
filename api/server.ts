import { Hono } from 'hono';
import type { Logger } from 'pino';
import { loadBuild } from '../src/app/build.ts';
import type { AppContext } from '../src/app/context.ts';
import { isDemonstration } from '../src/app/demo-records.ts';
import type { PressQueue } from '../src/app/press-queue.ts';
import { deskApi } from './desk/api.ts';
import { fileOptions } from './desk/files/file-options.ts';
import { notFoundHandler } from './desk/files/not-found.ts';
import { removedPaper } from './desk/files/removed-paper.ts';
import { hostRoutes } from './desk/routes.ts';
import { Sites } from './desk/site.ts';
import type { DeskEnv } from './env.ts';
import type { Listening } from './listen.ts';
import { listen } from './listen.ts';
import { answerFault } from './middleware/fault.ts';
import { recordForwarded } from './middleware/forwarded.ts';
import { setHeadLength } from './middleware/head.ts';
import { KeyUses } from './middleware/key-uses.ts';
import { logRequests } from './middleware/log.ts';
import { assignRequestId } from './middleware/request-id.ts';
import { refuseOnStandby } from './middleware/standby.ts';
import { awaitWriteLock } from './middleware/write-lock.ts';
import { recordsApi } from './records/api.ts';
import { answerFaults } from './records/pages/fault.ts';
import { PageSender } from './records/pages/page.ts';
import { ChangeFeed } from './records/stream/feed.ts';
import { carryHeaders } from './responses/headers.ts';

/** Receives a service's port before anything that may need it is wired. */
type Bound = (port: number) => void;

/** The dependencies of the news desk's routes. */
export interface DeskParts {
  app: AppContext;
  presses: PressQueue;
  /** What is yet to be filed; by default nothing. */
  backlog?: ReadonlySet<string>;
  logger: Logger;
}

/** Starts a server with the routes of the news desk. */
export async function listenDesk(parts: DeskParts, bound: Bound = () => {}): Promise<Listening> {
  const { app, logger } = parts;
  const { host, port, origin } = app.settings;
  const uses = new KeyUses(app.store.keys, (error) => logger.warn({ err: error }, 'uses of keys are noted later'));
  const wire = async (got: number) => {
    bound(got);
    return deskRouter(parts, uses);
  };
  return listen({ host, port, origin, setting: 'PORT' }, wire, () => uses.close());
}

/** Every route of the news desk, for the shared host and for the papers' own domains. */
export async function deskRouter(
  { app, presses, backlog = new Set(), logger }: DeskParts,
  uses: KeyUses,
): Promise<Hono<DeskEnv>> {
  const build = await loadBuild();
  const sites = new Sites(app);
  const router = new Hono<DeskEnv>({ getPath: sites.routingPath });
  useCommon(router, 'desk', app, logger);
  router.onError(answerFault(logger, app.store.fault));
  router.use(removedPaper(sites, app.settings.origin));
  router.route('/:paper', await deskApi({ app, sites, presses, uses, logger }));
  router.options('*', fileOptions(sites));
  for (const [method, path, , handler] of hostRoutes({ app, sites, build, presses, backlog }))
    router.on(method, path, handler);
  router.notFound(notFoundHandler(app, backlog));
  return router;
}

/** Starts a server with the routes of the domain records. */
export async function listenRecords(app: AppContext, logger: Logger, bound: Bound = () => {}): Promise<Listening> {
  const { host, recordsPort: port, dataOrigin: origin } = app.settings;
  const build = await loadBuild();
  const uses = new KeyUses(app.store.serviceKeys, (error) =>
    logger.warn({ err: error }, 'uses of keys are noted later'),
  );
  const feed = new ChangeFeed(app.store.records, (error) =>
    logger.warn({ err: error }, 'changes could not be read; they will be with the next poll'),
  );
  const wire = async (got: number) => {
    bound(got);
    const router = new Hono<DeskEnv>();
    useCommon(router, 'records', app, logger);
    const pages = new PageSender(build.render, app.settings, { isDemonstration: isDemonstration(app.settings) });
    router.onError(answerFaults(app, pages, logger));
    const records = await recordsApi({
      app,
      pages,
      uses,
      logger,
      feed,
      asset: build.asset,
      ask: (request, env) => router.fetch(request, env),
    });
    router.route('/', records.router);
    return router;
  };
  const listening = await listen({ host, port, origin, setting: 'RECORDS_PORT' }, wire, () => uses.close());
  const close = () => {
    // Streams do not end by themselves.
    feed.close();
    return listening.close();
  };
  return { ...listening, close };
}

/** Middleware that both services apply to every request. */
function useCommon(router: Hono<DeskEnv>, service: 'desk' | 'records', app: AppContext, logger: Logger): void {
  router.use(carryHeaders);
  router.use(assignRequestId);
  router.use(setHeadLength);
  router.use(logRequests(logger, service));
  router.use(recordForwarded(app, service, logger));
  router.use(refuseOnStandby(app));
  router.use(awaitWriteLock(app));
}
