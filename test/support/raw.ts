import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A connection on which a test writes raw bytes. */
export interface Raw {
  socket: Socket;
  write(bytes: string | Buffer): void;
  /** The whole response, once the server has closed the connection. */
  closed: Promise<string>;
  /** The response so far. */
  text(): string;
}

/** Opens a new connection. Bytes are sent and received as Latin-1. A reset counts as an end. */
export async function dial(url: string): Promise<Raw> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
  socket.on('error', () => socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()).once('close', () => resolve()));
  return {
    socket,
    write: (bytes) => void socket.write(bytes, 'latin1'),
    closed,
    text: () => text,
  };
}

/** Sends raw bytes and returns the whole response. The bytes must ask to close the connection. */
export async function shout(url: string, bytes: string): Promise<string> {
  const { write, closed } = await dial(url);
  write(bytes);
  return closed;
}

/** Sends bytes one at a time, `gap` ms apart, until the connection is closed. */
export async function drip(raw: Raw, bytes: string, gap: number): Promise<void> {
  for (const byte of bytes) {
    if (raw.socket.destroyed) return;
    raw.write(byte);
    await sleep(gap);
  }
}
