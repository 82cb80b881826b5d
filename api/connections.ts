import { type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as yielded } from 'node:timers/promises';

/** How long a stopping server waits for the first byte of a connection, in ms: browsers and proxies open some ahead. */
const FIRST_BYTE = 1_000;
/** How long a stopping server goes on accepting, in ms. */
const ACCEPT = 5_000;

/** Follows the connections of a server from now on. */
export function followConnections(server: Server) {
  const silent = new Map<Socket, number>();
  const open = new Set<Socket>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    count++;
    open.add(socket);
    silent.set(socket, performance.now());
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
    });
  });
  spareSending(server, open);
  return {
    /** Resolves when the connections that the system has already established are accepted, after `ACCEPT` at most. */
    async accepted(): Promise<void> {
      const last = performance.now() + ACCEPT;
      // libuv accepts one connection in each turn of the loop. The first turn may have started.
      for (let idle = 0; idle < 2 && performance.now() < last; ) {
        const before = count;
        await yielded();
        idle = count === before ? idle + 1 : 0;
      }
    },
    /** Ends connections on which nothing was sent for `FIRST_BYTE`. */
    closeSilent(): void {
      for (const [socket, at] of silent) {
        if (socket.bytesRead > 0) silent.delete(socket);
        else if (performance.now() - at > FIRST_BYTE) socket.destroy();
      }
    },
  };
}

/** Spares connections that are still sending: Node treats an ended response as sent, and closes idle connections. */
function spareSending(server: Server, open: ReadonlySet<Socket>): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const sending = [...open].filter(({ writableLength }) => writableLength > 0);
    for (const socket of sending) socket.destroy = () => socket;
    closeIdle();
    for (const socket of sending) Reflect.deleteProperty(socket, 'destroy');
  };
}

/** Responses that close their connections once `draining` is on. */
export function drainingResponse(draining: { isOn: boolean }): typeof ServerResponse {
  class DrainingResponse extends ServerResponse {
    // Node also calls it for headers that nobody wrote explicitly.
    override writeHead(...given: unknown[]) {
      if (draining.isOn) this.shouldKeepAlive = false;
      return super.writeHead(...(given as [number]));
    }
  }
  return DrainingResponse as typeof ServerResponse;
}
