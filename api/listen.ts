import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createAdaptorServer, type Http2Bindings, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Hono } from 'hono';
import { codeOf, Fault } from '../src/shared/fault.ts';
import { drainingResponse, followConnections } from './connections.ts';
import type { DeskEnv } from './env.ts';
import { closeInStages, isClosing, isLong } from './lingering-close.ts';
import { answerMalformed } from './malformed-request.ts';

/** How long a stopping server waits for responses in progress, in ms. */
const DRAIN = 10_000;
/** How long to retry a port that is in use, and how often, in ms: a server that is shutting down may still hold it. */
const PATIENCE = 3_000;
const TRY_EVERY = 100;
/** The response to CONNECT, which never reaches Hono. */
const BARE_405 =
  'HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
/** How often a stopping server closes connections that became idle, in ms. */
const SWEEP = 100;

export interface Listening {
  /** The service's URL, with the actual port. */
  url: string;
  /** Keeps answering, and closes each connection after its next response, so that clients reconnect elsewhere. */
  drain(): void;
  /** Accepts no more requests, finishes those in progress, and resolves. */
  close(): Promise<void>;
}

/** Why the system refused to listen, by error code. */
const REFUSALS: Record<string, (at: ListenAddress) => string> = {
  EADDRINUSE: ({ host, port, setting }) =>
    `port ${port} of ${host} is taken; set ${setting} to another one, or to 0 for a free one`,
  EACCES: ({ port, setting }) => `port ${port} is not open to this user; set ${setting} to 1024 or above`,
  EADDRNOTAVAIL: ({ host, hostSetting: name = 'HOST' }) =>
    `${name}=${host} is not a local address; set ${name} to one, or to 0.0.0.0 for all`,
  ENOTFOUND: ({ host, hostSetting: name = 'HOST' }) =>
    `${name}=${host} is not a local address or name; set ${name} to one, or to 0.0.0.0 for all`,
};

/** The address to listen on, and the settings that change the port and the host (`HOST` by default). */
export interface ListenAddress {
  host: string;
  port: number;
  setting: string;
  hostSetting?: string;
}

/** The address of a service, and its public origin, which is the default host of requests. */
interface ServiceAddress extends ListenAddress {
  origin: string;
}

/**
 * Starts a server; `end` runs after it has closed. `wire` builds the router once the port is known, since the router's
 * own URLs may depend on it; earlier requests wait for it. Throws `unavailable`, naming the setting, when the server
 * cannot listen.
 */
export async function listen(
  address: ServiceAddress,
  wire: (port: number) => Promise<Hono<DeskEnv>>,
  end: () => void,
): Promise<Listening> {
  let answer: Answering | null = null;
  const ready = Promise.withResolvers<Answering>();
  ready.promise.catch(() => undefined);
  const draining = { isOn: false };
  const server = createAdaptorServer({
    serverOptions: { ServerResponse: drainingResponse(draining) },
    fetch: (...asked) => (answer === null ? ready.promise.then((answers) => answers(...asked)) : answer(...asked)),
  }) as Server;
  answerMalformed(server);
  server.prependListener('request', ({ httpVersion, headers }) => {
    // HTTP/1.0, which health checks use, has no Host. Node rejects HTTP/1.1 requests without one.
    if (httpVersion === '1.0') headers.host ||= new URL(address.origin).host;
  });
  // Without a listener Node drops such connections silently. This server does not tunnel.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(BARE_405, () => socket.destroy());
  });
  const connections = followConnections(server);
  await bind(server, address);
  const { port: got } = server.address() as AddressInfo;
  try {
    answer = answering(await wire(got));
    ready.resolve(answer);
  } catch (error) {
    ready.reject(error);
    server.close();
    server.closeAllConnections();
    throw error;
  }
  return {
    url: urlOf(server.address() as AddressInfo),
    drain() {
      draining.isOn = true;
    },
    async close() {
      draining.isOn = true;
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN);
      await connections.accepted();
      await new Promise<void>((resolve) => {
        const sweep = setInterval(() => {
          // Keep-alive connections become idle when their response is finished.
          server.closeIdleConnections();
          // Node takes a connection on which nothing was ever sent for a busy one.
          connections.closeSilent();
        }, SWEEP);
        server.close(() => {
          clearTimeout(timer);
          clearInterval(sweep);
          end();
          resolve();
        });
      });
    },
  };
}

export function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Throws `unavailable`, naming the setting, unless the address is free to listen on now. */
export async function requireFreePort(address: ListenAddress): Promise<void> {
  const server = createServer();
  await bind(server, address);
  server.close();
  await once(server, 'close');
}

/** Listens, or throws `unavailable`. A port that is in use is tried again for some ms. */
export async function bind(server: NetServer, address: ListenAddress, patience = PATIENCE): Promise<void> {
  const last = performance.now() + patience;
  for (;;) {
    server.listen(address.port, address.host);
    try {
      await once(server, 'listening');
      return;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EADDRINUSE' && performance.now() < last) {
        await pause(TRY_EVERY);
        continue;
      }
      const refusal = REFUSALS[code]?.(address);
      throw refusal === undefined ? error : new Fault('unavailable', refusal);
    }
  }
}

type Answering = (request: Request, env: HttpBindings | Http2Bindings) => Response | Promise<Response>;

/** Handles a request with Hono, and its connection, of which Hono knows nothing. */
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

/** Hono wraps the response to HEAD in a new object, so that the listener would send it although it was sent already. */
function finished(response: Response, incoming: IncomingMessage, outgoing: ServerResponse): Response {
  if (outgoing.headersSent) return RESPONSE_ALREADY_SENT;
  if (isLong(incoming)) closeInStages(incoming, outgoing);
  return response;
}

/** Whether a request names two hosts (RFC 9112, section 3.2): a proxy may have used the other one. */
function hasTwoHosts(rawHeaders: string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}
