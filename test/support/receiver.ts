import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Scope } from './app-context.ts';

/** A request that was received. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server that receives webhooks. */
export interface Receiver {
  url: string;
  port: number;
  /** The complete requests, in order of arrival. */
  got: Received[];
  /** The number of connections. */
  connections: number;
  /** Answers a request once it is read; by default with 204. */
  answer(request: IncomingMessage, response: ServerResponse, received: Received): void;
}

/** Listens on a free loopback port until the test ends; with TLS if a certificate is given. */
export async function receiver(
  t: Scope,
  { host = '127.0.0.1', port = 0, tls }: { host?: string; port?: number; tls?: { key: string; cert: string } } = {},
): Promise<Receiver> {
  const at: Receiver = {
    url: '',
    port: 0,
    got: [],
    connections: 0,
    answer: (_request, response) => response.writeHead(204).end(),
  };
  const listen: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    response.on('error', () => {});
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    at.got.push(received);
    at.answer(request, response, received);
  };
  const server: Server = tls === undefined ? createServer(listen) : createTlsServer(tls, listen);
  server.on('connection', () => {
    at.connections++;
  });
  server.listen(port, host);
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  at.port = (server.address() as AddressInfo).port;
  at.url = `${tls === undefined ? 'http' : 'https'}://${host}:${at.port}/hook`;
  return at;
}
