import type { Socket } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';
import type { Exchange, Send, Server } from '../records/dns/transport.ts';
import { serverText } from '../records/dns/transport.ts';

/** Sockets for each server at a time, and how many queries leave by one: a forger has to guess which port is listening now. */
const SOCKETS = 8;
const QUERIES = 200;

interface Waiting {
  accepts(answer: Uint8Array): boolean;
  settle(exchange: Exchange): void;
  began: number;
  /** Something came under its number that was not its answer. */
  misled: boolean;
}

/** A socket connected to one server: what others send is dropped by the kernel, and a closed port is heard of. */
class Channel {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ready: Promise<boolean>;
  /** Numbers of queries that waited in vain: their answers may still come, and are nobody else's. */
  readonly #late = new Set<number>();
  readonly #closed: (channel: Channel) => void;
  #sent = 0;
  #isOpen = true;

  /** Connects; `closed` is told when the socket is given back. */
  constructor({ address, port }: Server, closed: (channel: Channel) => void) {
    this.#closed = closed;
    const family = isIP(address);
    this.#socket = createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      lookup: (host, _options, done) => done(null, host, family),
    });
    this.#socket.on('message', (bytes) => this.#hear(bytes));
    this.#ready = new Promise((ready) => {
      this.#socket.once('connect', () => ready(true));
      // The kernel has been told that nobody listens there, or has no socket to give.
      this.#socket.on('error', () => {
        ready(false);
        this.close();
      });
    });
    this.#socket.connect(port, address);
    // Timers of queries keep the process alive, sockets that wait for work do not.
    this.#socket.unref();
  }

  /** Whether a query of this number may leave by it. */
  takes(id: number): boolean {
    return this.#isOpen && this.#sent < QUERIES && !this.#waiting.has(id);
  }

  /** Takes no more queries, and closes after the last that waits. */
  retire(): void {
    this.#sent = QUERIES;
    if (this.#waiting.size === 0) this.close();
  }

  send(query: Buffer, accepts: Waiting['accepts'], timeout: number): Promise<Exchange> {
    const id = query.readUInt16BE(0);
    this.#sent++;
    return new Promise((done) => {
      const timer = setTimeout(() => {
        this.#late.add(id);
        waiting.settle({ outcome: waiting.misled ? 'mismatch' : 'timeout' });
      }, timeout);
      const waiting: Waiting = {
        accepts,
        began: performance.now(),
        misled: false,
        settle: (exchange) => {
          clearTimeout(timer);
          this.#waiting.delete(id);
          done(exchange);
          if (this.#sent >= QUERIES) this.retire();
        },
      };
      this.#waiting.set(id, waiting);
      this.#ready.then((isReady) => {
        if (!isReady || !this.#isOpen) return waiting.settle({ outcome: 'unreachable' });
        waiting.began = performance.now();
        this.#socket.send(query, (error) => {
          if (error) waiting.settle({ outcome: 'unreachable' });
        });
      });
    });
  }

  #hear(bytes: Buffer): void {
    const id = bytes.length < 2 ? -1 : bytes.readUInt16BE(0);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      if (this.#late.has(id)) return;
      // It may be meant for any that waits here.
      for (const other of this.#waiting.values()) other.misled = true;
    } else if (waiting.accepts(bytes)) {
      waiting.settle({ outcome: 'answered', bytes, ms: performance.now() - waiting.began });
    } else waiting.misled = true;
  }

  /** Whoever waits is told that the server cannot be reached. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.close();
    this.#closed(this);
    for (const waiting of [...this.#waiting.values()]) waiting.settle({ outcome: 'unreachable' });
  }
}

/** Queries by UDP. */
export function createUdp(): { send: Send; close(): void } {
  const all = new Set<Channel>();
  const byServer = new Map<string, { channels: Channel[]; next: number }>();
  let isOpen = true;
  return {
    async send(server, query, accepts, timeout) {
      if (!isOpen) return { outcome: 'unreachable' };
      const bytes = Buffer.from(query.buffer, query.byteOffset, query.byteLength);
      const key = serverText(server);
      const here = byServer.get(key) ?? { channels: [], next: 0 };
      byServer.set(key, here);
      const slot = here.next++ % SOCKETS;
      let channel = here.channels[slot];
      if (channel === undefined || !channel.takes(bytes.readUInt16BE(0))) {
        channel?.retire();
        channel = new Channel(server, (closed) => all.delete(closed));
        all.add(channel);
        here.channels[slot] = channel;
      }
      return channel.send(bytes, accepts, timeout);
    },
    close() {
      isOpen = false;
      for (const channel of all) channel.close();
    },
  };
}
