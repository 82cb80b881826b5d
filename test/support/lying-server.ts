import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket, type Server as TcpServer } from 'node:net';
import { type DecodedPacket, decode, encode, type Packet, RECURSION_AVAILABLE } from 'dns-packet';
import type { Server } from '../../src/records/probe/dns/upstream.ts';

/** A query that was received. */
export interface Heard {
  by: 'udp' | 'tcp';
  bytes: Buffer;
  query: DecodedPacket;
  /** Its source port. */
  from: number;
}

/** The messages to send back, in order; TCP sends only the first. */
export type Reply = (heard: Heard) => readonly Uint8Array[];

/** A server that sends whatever a test wants, over UDP and TCP on one loopback port. */
export interface LyingServer extends Server {
  heard: Heard[];
}

/** Starts the server until the test ends. Without `tcp` nothing listens on TCP. */
export async function lyingServer(
  t: { after(work: () => unknown): void },
  reply: Reply,
  { tcp = true, address = '127.0.0.1' } = {},
): Promise<LyingServer> {
  const heard: Heard[] = [];
  const sockets = new Set<Socket>();
  const stream = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    let read = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      read = Buffer.concat([read, chunk]);
      if (read.length < 2 || read.length < 2 + read.readUInt16BE(0)) return;
      const bytes = read.subarray(2);
      const query: Heard = { by: 'tcp', bytes, query: decode(bytes), from: socket.remotePort ?? 0 };
      heard.push(query);
      const [message] = reply(query);
      if (message === undefined) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(message.length);
      // Sent in two parts that the client has to reassemble.
      socket.write(Buffer.concat([length, message.subarray(0, 7)]));
      setImmediate(() => socket.write(message.subarray(7)));
    });
  });
  const datagrams = await bothOn(stream, address);
  datagrams.on('message', (bytes, { port: from }) => {
    const query: Heard = { by: 'udp', bytes, query: decode(bytes), from };
    heard.push(query);
    for (const message of reply(query)) datagrams.send(message, from, address);
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    stream.close();
    datagrams.close();
  });
  const { port } = datagrams.address();
  if (!tcp) stream.close();
  return { address, port, heard };
}

/** Listens on TCP and binds a UDP socket to the same port. If another process has that UDP port, tries another one. */
async function bothOn(stream: TcpServer, address: string): Promise<DatagramSocket> {
  for (;;) {
    stream.listen(0, address);
    await once(stream, 'listening');
    const { port } = stream.address() as AddressInfo;
    const datagrams = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    try {
      datagrams.bind(port, address);
      await once(datagrams, 'listening');
      return datagrams;
    } catch (error) {
      datagrams.close();
      stream.close();
      await once(stream, 'close');
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** The bytes of a response to a query, with its id and question unless others are given. */
export function answerTo({ query }: Heard, more: Partial<Packet> & { rcode?: number } = {}): Buffer {
  const { rcode = 0, flags = RECURSION_AVAILABLE, ...rest } = more;
  const bytes = encode({ type: 'response', id: query.id, questions: query.questions, ...rest, flags: flags | rcode });
  // dns-packet writes 0 for a code that is given only by name.
  bytes[3] = ((bytes[3] ?? 0) & 0xf0) | rcode;
  return bytes;
}
