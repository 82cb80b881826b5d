import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Scope } from './app-context.ts';
import { loopback } from './loopback.ts';

/** A relay in front of an HTTP server. */
export interface Relay {
  url: string;
  /** While it is down, it closes every connection. */
  isDown: boolean;
  /** Runs before a response of the server is passed on, except for HEAD, which only asks for the time. */
  answered(): void | Promise<void>;
  /** The number of requests that were passed on, without HEAD. */
  requests: number;
}

/** Starts a relay until the test ends. */
export async function relayTo(t: Scope, target: string): Promise<Relay> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (relay.isDown) return void response.destroy();
    const isHead = request.method === 'HEAD';
    if (!isHead) relay.requests++;
    const options = isHead ? { method: 'HEAD' } : { method: request.method, body };
    const answer = await fetch(new URL(request.url ?? '/', target), options);
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (!isHead) await relay.answered();
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' }).end(bytes);
  });
  const relay: Relay = { url: `${await loopback(t, server)}/`, isDown: false, answered() {}, requests: 0 };
  return relay;
}
