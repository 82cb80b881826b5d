import { Hono } from 'hono';
import type { Logger } from 'pino';
import { loadBuild } from '../src/app/build.ts';
import type { Workshop } from '../src/app/context.ts';
import { Backlog } from '../src/app/pending-folders.ts';
import type { Presses } from '../src/app/press-queue.ts';
import { deskApi } from './desk/api.ts';
import { fileOptions } from './desk/file-options.ts';
import { newsstandDoor } from './desk/newsstand.ts';
import { nothingHere } from './desk/nothing-here.ts';
import { paperDoor } from './desk/papers.ts';
import { privatePaperDoor } from './desk/private-papers.ts';
import { Sites } from './desk/site.ts';
import type { DeskEnv } from './env.ts';
import type { Listening } from './listen.ts';
import { listen } from './listen.ts';
import { answerFault } from './middleware/fault.ts';
import { noticeForwarded } from './middleware/forwarded.ts';
import { measureHead } from './middleware/head.ts';
import { KeyUses } from './middleware/key-uses.ts';
import { logRequests } from './middleware/log.ts';
import { nameRequest } from './middleware/request-id.ts';
import { recordsApi } from './records/api.ts';
import { answerFaults } from './records/fault-pages.ts';
import { ChangeFeed } from './records/stream/feed.ts';

/** Told the port that a service got, before anything is wired that may need it. */
type Bound = (port: number) => void;

/** What the news desk's doors are wired with. */
export interface DeskParts {
  shop: Workshop;
  presses: Presses;
  /** What is yet to be filed; nothing where it is left out. */
  backlog?: Backlog;
  logger: Logger;
}

/** Wires the doors of the news desk and listens. */
export async function listenDesk(
  { shop, presses, backlog = new Backlog(), logger }: DeskParts,
  bound: Bound = () => {},
): Promise<Listening> {
  const { host, port, origin } = shop.settings;
  const build = await loadBuild();
  const uses = new KeyUses(shop.store.keys, (error) => logger.warn({ err: error }, 'uses of keys are noted later'));
  const wire = async (got: number) => {
    bound(got);
    const sites = new Sites(shop);
    const app = new Hono<DeskEnv>({ getPath: sites.routingPath });
    app.use(nameRequest);
    app.use(measureHead);
    app.use(logRequests(logger));
    app.use(noticeForwarded(shop, 'desk', logger));
    app.onError(answerFault(logger, shop.store.fault));
    app.route('/:paper', await deskApi({ shop, sites, presses, uses, logger }));
    app.options('*', fileOptions(sites));
    app.route('/', paperDoor(shop, sites, { presses, backlog }));
    app.route('/', privatePaperDoor(shop, sites, build));
    app.route('/', newsstandDoor(shop, build.render, { presses, backlog }));
    app.notFound(nothingHere(shop, backlog));
    return app;
  };
  return listen({ host, port, origin, setting: 'PORT' }, wire, () => uses.close());
}

/** Wires the doors of the domain records and listens. */
export async function listenRecords(shop: Workshop, logger: Logger, bound: Bound = () => {}): Promise<Listening> {
  const { host, recordsPort: port, dataOrigin: origin } = shop.settings;
  const build = await loadBuild();
  const uses = new KeyUses(shop.store.serviceKeys, (error) =>
    logger.warn({ err: error }, 'uses of keys are noted later'),
  );
  const feed = new ChangeFeed(shop.store.records, (error) => logger.warn({ err: error }, 'changes are told later'));
  const wire = async (got: number) => {
    bound(got);
    const app = new Hono<DeskEnv>();
    app.use(nameRequest);
    app.use(measureHead);
    app.use(logRequests(logger));
    app.use(noticeForwarded(shop, 'records', logger));
    app.onError(answerFaults({ shop, build }, logger));
    app.route('/', await recordsApi({ shop, uses, logger, feed, ask: (request, env) => app.fetch(request, env) }));
    return app;
  };
  const listening = await listen({ host, port, origin, setting: 'RECORDS_PORT' }, wire, () => uses.close());
  const close = () => {
    // Streams have no end of their own to wait for.
    feed.close();
    return listening.close();
  };
  return { ...listening, close };
}
