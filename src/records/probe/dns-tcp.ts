import { connect } from 'node:net';
import type { Exchange, Send } from './dns/upstream.ts';

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
