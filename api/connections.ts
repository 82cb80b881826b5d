import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as yielded } from 'node:timers/promises';

/** How long a stopping server waits for the first byte of a connection, in ms: browsers and proxies open some ahead. */
const FIRST_BYTE = 1_000;
/** How long a stopping server goes on accepting, in ms. */
const ACCEPT = 5_000;

/** What a server that closes has to know of its connections. */
export interface Connections {
  /**
   * Resolves when those are accepted that the system made while this thread was busy, after `ACCEPT` at most: closing
   * the port resets them, and their requests.
   */
  accepted(): Promise<void>;
  /** Ends those on which nothing was sent for `FIRST_BYTE`. */
  closeSilent(): void;
}

/** Follows the connections of a server from now on. */
export function followConnections(server: Server): Connections {
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
    async accepted() {
      const last = performance.now() + ACCEPT;
      // libuv accepts one connection in each turn of the loop. The first turn may have started.
      for (let idle = 0; idle < 2 && performance.now() < last; ) {
        const before = count;
        await yielded();
        idle = count === before ? idle + 1 : 0;
      }
    },
    closeSilent() {
      for (const [socket, at] of silent) {
        if (socket.bytesRead > 0) silent.delete(socket);
        else if (performance.now() - at > FIRST_BYTE) socket.destroy();
      }
    },
  };
}

/**
 * Keeps a server from closing connections of which it has not sent the whole response: Node treats an ended response as
 * sent. `server.close()` closes idle connections too.
 */
function spareSending(server: Server, open: ReadonlySet<Socket>): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const sending = [...open].filter(({ writableLength }) => writableLength > 0);
    for (const socket of sending) socket.destroy = () => socket;
    closeIdle();
    for (const socket of sending) Reflect.deleteProperty(socket, 'destroy');
  };
}
