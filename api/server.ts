import { Hono } from 'hono';
import type { Logger } from 'pino';
import { loadBuild } from '../src/desk/press/build.ts';
import type { AppContext } from '../src/server/context.ts';
import { isDemonstration } from '../src/shared/demonstration.ts';
import { deskApi } from './desk/api.ts';
import { fileOptions, notFoundHandler, removedPaper } from './desk/files/notices.ts';
import { hostRoutes } from './desk/routes.ts';
import { sitesOf } from './desk/site.ts';
import type { Writer } from './desk/writing/write.ts';
import type { DeskEnv } from './env.ts';
import { type Listening, listen } from './listen.ts';
import { assignRequestId, setHeadLength } from './middleware/every-response.ts';
import { answerFault } from './middleware/fault.ts';
import { recordForwarded } from './middleware/forwarded.ts';
import { KeyUses } from './middleware/key-uses.ts';
import { logRequests } from './middleware/log.ts';
import { PageCounts } from './middleware/page-counts.ts';
import { awaitWriteLock, refuseOnStandby } from './middleware/standby.ts';
import { recordsApi } from './records/api.ts';
import { answerFaults } from './records/pages/fault.ts';
import { PageSender } from './records/pages/page.ts';
import { ChangeFeed } from './records/stream/feed.ts';
import { carryHeaders } from './responses/headers.ts';

/** Receives a service's port before anything that may need it is wired. */
type Bound = (port: number) => void;

/** The dependencies of the news desk's routes. `backlog` names the papers that are yet to be filed. */
interface DeskParts extends Omit<Writer, 'proxies'> {
  backlog?: ReadonlySet<string>;
  /** Counts reads of pages; null without it. */
  counts?: PageCounts | null;
}

/** Starts a server with the routes of the news desk. */
export async function listenDesk(parts: DeskParts, bound: Bound = () => {}): Promise<Listening> {
  const { app, logger } = parts;
  const { host, port, origin } = app.settings;
  const uses = new KeyUses(app.store.desk.keys, (error) => logger.warn({ err: error }, 'uses of keys are noted later'));
  const counts = app.settings.pageCounts
    ? new PageCounts(app.store.desk.pageCounts, (error) => logger.warn({ err: error }, 'reads are counted later'))
    : null;
  const wire = async (got: number) => {
    bound(got);
    return deskRouter({ ...parts, counts }, uses);
  };
  return listen({ host, port, origin, setting: 'PORT' }, wire, () => {
    uses.close();
    counts?.close();
  });
}

/** Every route of the news desk, for the shared host and for the papers' own domains. */
export async function deskRouter({ backlog = new Set(), counts = null, ...writer }: DeskParts, uses: KeyUses) {
  const { app, presses, logger } = writer;
  const build = await loadBuild();
  const sites = sitesOf(app);
  const router = new Hono<DeskEnv>({ getPath: sites.routingPath });
  useCommon(router, 'desk', app, logger);
  router.onError(answerFault(logger, app.store.database.fault));
  router.use(removedPaper(sites, app.settings.origin));
  router.route('/:paper', await deskApi(writer, sites, uses, (request, env) => router.fetch(request, env)));
  router.options('*', fileOptions(sites));
  for (const [method, path, , handler] of hostRoutes({ app, sites, build, presses, backlog, counts }))
    router.on(method, path, handler);
  router.notFound(notFoundHandler(app, backlog));
  return router;
}

/** Starts a server with the routes of the domain records. */
export async function listenRecords(app: AppContext, logger: Logger, bound: Bound = () => {}): Promise<Listening> {
  const { host, recordsPort: port, dataOrigin: origin } = app.settings;
  const build = await loadBuild();
  const uses = new KeyUses(app.store.records.serviceKeys, (error) =>
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
    const parts = { app, pages, uses, logger, feed, asset: build.asset };
    const records = await recordsApi({ ...parts, ask: (request, env) => router.fetch(request, env) });
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
