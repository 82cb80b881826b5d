import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  AUTHORITATIVE_ANSWER,
  type DecodedPacket,
  decode,
  encode,
  type OptAnswer,
  TRUNCATED_RESPONSE,
} from 'dns-packet';
import { codeOf } from '../../shared/fault.ts';
import type { DemoAnswer } from './demo-zone.ts';
import { RCODE } from './dns/message.ts';

const HOST = '127.0.0.1';
/** In seconds. */
const TTL = 5;
/** The longest answer over UDP, in bytes (DNS flag day 2020). */
export const UDP_SIZE = 1_232;

/** A name server on loopback, on one port for UDP and TCP. */
export interface DemoNameServer {
  port: number;
  close(): void;
}

/**
 * Starts an authoritative name server on a free port of 127.0.0.1. `answer` is called for each question, with the name
 * in lower case. Packets that cannot be parsed get no answer.
 */
export async function startDemoNameServer(answer: (name: string, type: string) => DemoAnswer): Promise<DemoNameServer> {
  const sockets = new Set<Socket>();
  const stream = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    let read = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      read = Buffer.concat([read, chunk]);
      while (read.length >= 2 && read.length >= 2 + read.readUInt16BE(0)) {
        const end = 2 + read.readUInt16BE(0);
        const response = respond(read.subarray(2, end), answer);
        read = read.subarray(end);
        if (response === null) {
          socket.destroy();
          return;
        }
        const length = Buffer.alloc(2);
        length.writeUInt16BE(response.length);
        socket.write(Buffer.concat([length, response]));
      }
    });
  });
  const datagrams = await bindBoth(stream);
  datagrams.on('message', (query, { port, address }) => {
    const response = respond(query, answer, UDP_SIZE);
    if (response !== null) datagrams.send(response, port, address, () => {});
  });
  return {
    port: datagrams.address().port,
    close() {
      for (const socket of sockets) socket.destroy();
      stream.close();
      datagrams.close();
    },
  };
}

/** Binds TCP and UDP to the same free port. Tries another port when UDP's is taken. */
async function bindBoth(stream: Server): Promise<DatagramSocket> {
  for (;;) {
    stream.listen(0, HOST);
    await once(stream, 'listening');
    const datagrams = createSocket('udp4');
    try {
      datagrams.bind((stream.address() as AddressInfo).port, HOST);
      await once(datagrams, 'listening');
      return datagrams;
    } catch (error) {
      datagrams.close();
      stream.close();
      await once(stream, 'close');
      if (codeOf(error) !== 'EADDRINUSE') throw error;
    }
  }
}

/** Answers an encoded query; null for bytes that are not a query. An answer longer than `most` bytes is truncated. */
export function respond(
  bytes: Buffer,
  answer: (name: string, type: string) => DemoAnswer,
  most = Number.POSITIVE_INFINITY,
): Buffer | null {
  let query: DecodedPacket;
  try {
    query = decode(bytes);
  } catch {
    return null;
  }
  const [question] = query.questions ?? [];
  if (query.type !== 'query' || question === undefined) return null;
  const { code, records, authority } = answer(question.name.toLowerCase(), question.type);
  const isEmpty = records.length === 0;
  const write = (flags: number, isWhole: boolean) => {
    const response = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: flags | RCODE[code],
      questions: [question],
      answers: isWhole ? records.map((record) => ({ ...record, name: question.name, ttl: TTL })) : [],
      authorities: isWhole && isEmpty && authority !== null ? [{ ...authority, type: 'SOA', ttl: TTL }] : [],
      additionals: query.additionals?.some(({ type }) => type === 'OPT') ? [OPT] : [],
    });
    // dns-packet writes 0 for a response code given only by name.
    response[3] = ((response[3] ?? 0) & 0xf0) | RCODE[code];
    return response;
  };
  const whole = write(AUTHORITATIVE_ANSWER, true);
  return whole.length <= most ? whole : write(AUTHORITATIVE_ANSWER | TRUNCATED_RESPONSE, false);
}

/** EDNS of the response (RFC 6891, section 6.1). */
const OPT: OptAnswer = {
  type: 'OPT',
  name: '.',
  udpPayloadSize: UDP_SIZE,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
};
