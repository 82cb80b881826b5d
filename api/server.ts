import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { Fault } from '../src/fault.ts';
import { loadBuild } from '../src/works/build.ts';
import type { Presses } from '../src/works/presses.ts';
import type { Workshop } from '../src/works/workshop.ts';
import { deskApi } from './desk/api.ts';
import { newsstandDoor } from './desk/newsstand.ts';
import { nothingHere } from './desk/nothing-here.ts';
import { paperDoor } from './desk/papers.ts';
import { privatePaperDoor } from './desk/private-papers.ts';
import { Sites } from './desk/site.ts';
import type { DeskEnv } from './env.ts';
import { answerFault } from './middleware/fault.ts';
import { KeyUses } from './middleware/key-uses.ts';
import { logRequests } from './middleware/log.ts';
import { nameRequest } from './middleware/request-id.ts';

/** How long a stopping server waits for answers that are under way, in ms. */
const DRAIN = 10_000;
/** How often a stopping server looks for connections that have fallen idle, in ms. */
const SWEEP = 100;

export interface Listening {
  /** Where the desk answers, with the port that it got. */
  url: string;
  /** Takes no more requests, finishes those under way, and resolves. */
  close(): Promise<void>;
}

/** Wires the doors of the news desk and listens. */
export async function listenDesk(shop: Workshop, presses: Presses, logger: Logger): Promise<Listening> {
  const { host, port } = shop.settings;
  const build = await loadBuild();
  const sites = new Sites(shop);
  const uses = new KeyUses(shop.store.keys, (error) => logger.warn({ err: error }, 'uses of keys are noted later'));
  const app = new Hono<DeskEnv>({ getPath: sites.routingPath });
  app.use(nameRequest);
  app.use(logRequests(logger));
  app.onError(answerFault(logger, shop.store.fault));
  app.route('/:paper', await deskApi({ shop, sites, presses, uses, logger }));
  app.route('/', paperDoor(shop, sites));
  app.route('/', privatePaperDoor(shop, sites, build));
  app.route('/', newsstandDoor(shop, build.render));
  app.notFound(nothingHere(shop.settings.origin));
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Fault(
              'unavailable',
              `port ${port} of ${host} is taken; set PORT to another one, or to 0 for a free one`,
            )
          : error,
      ),
    );
    server.listen(port, host, resolve);
  });
  const { address, port: got, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${got}`,
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), DRAIN);
        // A connection that was kept alive falls idle when its answer is finished.
        const sweep = setInterval(() => server.closeIdleConnections(), SWEEP);
        server.close(() => {
          clearTimeout(timer);
          clearInterval(sweep);
          uses.close();
          resolve();
        });
      }),
  };
}
