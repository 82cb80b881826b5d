import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import { createAdaptorServer } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Hono } from 'hono';
import { codeOf, Fault } from '../src/fault.ts';
import type { DeskEnv } from './env.ts';
import { closeInStages, isClosing, isLong } from './lingering-close.ts';
import { answerMalformed } from './malformed-request.ts';

/** How long a stopping server waits for answers that are under way, in ms. */
const DRAIN = 10_000;
/** How long a port that is taken is tried again, in ms, and how often: a server that is ending still holds it. */
const PATIENCE = 3_000;
const TRY_EVERY = 100;
/** The answer to CONNECT, which Hono never sees. */
const BARE_405 =
  'HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
/** How often a stopping server looks for connections that have fallen idle, in ms. */
const SWEEP = 100;

export interface Listening {
  /** Where the service answers, with the port that it got. */
  url: string;
  /** Takes no more requests, finishes those under way, and resolves. */
  close(): Promise<void>;
}

/** Why a system will not listen, by the code of its error. */
const REFUSALS: Record<string, (at: ListenAddress) => string> = {
  EADDRINUSE: ({ host, port, setting }) =>
    `port ${port} of ${host} is taken; set ${setting} to another one, or to 0 for a free one`,
  EACCES: ({ port, setting }) => `port ${port} is not open to this user; set ${setting} to 1024 or above`,
  EADDRNOTAVAIL: ({ host }) => `HOST=${host} is no address of this machine; set HOST to one, or to 0.0.0.0 for all`,
  ENOTFOUND: ({ host }) => `HOST=${host} is no address or name of this machine; set HOST to one, or to 0.0.0.0 for all`,
};

/** Where to listen, and the `setting` that moves the port. */
interface ListenAddress {
  host: string;
  port: number;
  setting: string;
}

/** Where a service listens, and its public address: a request without a host is for it. */
interface ServiceAddress extends ListenAddress {
  origin: string;
}

/**
 * Listens; `end` runs once it has closed. `wire` makes the router when the port is known, which the router's own addresses
 * may follow from; requests that come before wait for it. Throws `unavailable` when it cannot listen,
 * naming the setting.
 */
export async function listen(
  place: ServiceAddress,
  wire: (port: number) => Promise<Hono<DeskEnv>>,
  end: () => void,
): Promise<Listening> {
  let answer: Answering | null = null;
  const wired = Promise.withResolvers<Answering>();
  wired.promise.catch(() => undefined);
  const server = createAdaptorServer({
    fetch: (...asked) => (answer === null ? wired.promise.then((ready) => ready(...asked)) : answer(...asked)),
  }) as Server;
  answerMalformed(server);
  server.prependListener('request', ({ httpVersion, headers }) => {
    // HTTP/1.0 knows no Host, and health checks speak it. Of HTTP/1.1, Node takes nothing without one.
    if (httpVersion === '1.0') headers.host ||= new URL(place.origin).host;
  });
  // Node breaks such a connection off without a word; nothing is tunnelled here.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(BARE_405, () => socket.destroy());
  });
  await bind(server, place);
  const { address, port: got, family } = server.address() as AddressInfo;
  try {
    answer = answering(await wire(got));
    wired.resolve(answer);
  } catch (error) {
    wired.reject(error);
    server.close();
    server.closeAllConnections();
    throw error;
  }
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
          end();
          resolve();
        });
      }),
  };
}

/** Throws `unavailable`, naming the setting, unless something could listen there now. */
export async function requireFreePort(place: ListenAddress): Promise<void> {
  const server = createServer();
  await bind(server, place);
  server.close();
  await once(server, 'close');
}

async function bind(server: NetServer, place: ListenAddress): Promise<void> {
  const last = performance.now() + PATIENCE;
  for (;;) {
    server.listen(place.port, place.host);
    try {
      await once(server, 'listening');
      return;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EADDRINUSE' && performance.now() < last) {
        await pause(TRY_EVERY);
        continue;
      }
      const refusal = REFUSALS[code]?.(place);
      throw refusal === undefined ? error : new Fault('unavailable', refusal);
    }
  }
}

type Answering = (request: Request, env: HttpBindings | Http2Bindings) => Response | Promise<Response>;

/** What the listener does beside Hono, which knows nothing of connections. */
function answering(router: Hono<DeskEnv>): Answering {
  return (request, env) => {
    const { incoming, outgoing } = env as HttpBindings;
    if (isClosing(incoming)) return RESPONSE_ALREADY_SENT;
    if (hasTwoHosts(incoming.rawHeaders)) return new Response(null, { status: 400 });
    const response = router.fetch(request, env);
    if (request.method === 'GET') return response;
    return Promise.resolve(response).then((whole) => finished(whole, incoming, outgoing));
  };
}

/**
 * Hono answers HEAD by wrapping the response to GET in a new one. The mark of a
 * response that a handler has sent on Node's own is lost by that, and the
 * listener would send a second head and then break the connection off.
 */
function finished(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Response {
  if (outgoing.headersSent) return RESPONSE_ALREADY_SENT;
  if (isLong(incoming)) closeInStages(incoming, outgoing);
  return response;
}

/**
 * Whether a request names two hosts (RFC 9112, section 3.2): a proxy before us
 * may have gone by the one, and we should go by the other.
 */
function hasTwoHosts(rawHeaders: string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}
