import { createSocket, type Socket } from 'node:dgram';
import { connect, isIP } from 'node:net';
import { type Exchange, type Send, type Server, serverText } from './dns/upstream.ts';

/** Open sockets per server, and queries per socket: rotating source ports are harder to spoof. */
const SOCKETS = 8;
const QUERIES = 200;

interface Waiting {
  accepts(answer: Uint8Array): boolean;
  settle(exchange: Exchange): void;
  began: number;
  /** A message that was not the answer arrived with this query's ID, or with an unknown ID on its socket. */
  misled: boolean;
}

/** A socket connected to one server, so that the kernel drops packets of others and reports a closed port. */
class Channel {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ready: Promise<boolean>;
  /** IDs of queries that timed out: late answers to them must not disturb other queries. */
  readonly #late = new Set<number>();
  readonly #closed: (channel: Channel) => void;
  #sent = 0;
  #isOpen = true;

  /** Connects. Calls `closed` when the socket is closed. */
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
      // The port is closed, or the kernel has no socket left.
      this.#socket.on('error', () => {
        ready(false);
        this.close();
      });
    });
    this.#socket.connect(port, address);
    // Only queries keep the process alive, through their timers; idle sockets do not.
    this.#socket.unref();
  }

  /** Whether the channel can send a query with this ID. */
  takes(id: number): boolean {
    return this.#isOpen && this.#sent < QUERIES && !this.#waiting.has(id);
  }

  /** Accepts no more queries, and closes after the last one. */
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
      // The message may be meant for any of the waiting queries.
      for (const other of this.#waiting.values()) other.misled = true;
    } else if (waiting.accepts(bytes)) {
      waiting.settle({ outcome: 'answered', bytes, ms: performance.now() - waiting.began });
    } else waiting.misled = true;
  }

  /** Closes the socket; waiting queries end as `unreachable`. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.close();
    this.#closed(this);
    for (const waiting of [...this.#waiting.values()]) waiting.settle({ outcome: 'unreachable' });
  }
}

/** Sends queries over UDP. `close` ends the waiting ones. */
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

/** Sends one query over TCP on its own connection: two length bytes, then the message (RFC 1035, section 4.2.2). */
export const sendTcp: Send = ({ address, port }, query, accepts, timeout) =>
  new Promise<Exchange>((done) => {
    const began = performance.now();
    const socket = connect({ host: address, port });
    // One deadline for the whole exchange, so that a server cannot extend it by dripping bytes.
    const timer = setTimeout(() => settle({ outcome: 'timeout' }), timeout);
    let read = Buffer.alloc(0);
    const settle = (exchange: Exchange) => {
      clearTimeout(timer);
      socket.destroy();
      done(exchange);
    };
    socket.on('connect', () => {
      const framed = Buffer.alloc(query.length + 2);
      framed.writeUInt16BE(query.length);
      framed.set(query, 2);
      socket.write(framed);
    });
    socket.on('data', (chunk) => {
      read = Buffer.concat([read, chunk]);
      if (read.length < 2) return;
      const end = 2 + read.readUInt16BE(0);
      if (read.length < end) return;
      const bytes = read.subarray(2, end);
      settle(accepts(bytes) ? { outcome: 'answered', bytes, ms: performance.now() - began } : { outcome: 'mismatch' });
    });
    socket.on('error', () => settle({ outcome: 'unreachable' }));
    socket.on('close', () => settle({ outcome: read.length > 0 ? 'mismatch' : 'unreachable' }));
  });
