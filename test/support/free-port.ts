import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const HOST = '127.0.0.1';
/** A range below the ports that systems use for outgoing connections and `listen(0)`, so that these take none of it. */
const [FIRST, COUNT] = [10_000, 22_000];
/** Concurrent processes start far from one another: consecutive ids are a prime apart. */
let next = (process.pid * 7919) % COUNT;

/** A loopback port that is free for both TCP and UDP, and that this process has not returned before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if ((await takesTcp(port)) && (await takesUdp(port))) return port;
  }
}

async function takesTcp(port: number): Promise<boolean> {
  const server = createServer();
  const isFree = await new Promise<boolean>((done) => {
    server.once('error', () => done(false));
    server.listen(port, HOST, () => done(true));
  });
  if (isFree) await once(server.close(), 'close');
  return isFree;
}

async function takesUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const isFree = await new Promise<boolean>((done) => {
    socket.once('error', () => done(false));
    socket.bind(port, HOST, () => done(true));
  });
  await new Promise<void>((done) => socket.close(() => done()));
  return isFree;
}
