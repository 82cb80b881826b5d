import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Hono } from 'hono';
import type { DeskEnv } from '../../api/env.ts';
import { listen } from '../../api/listen.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PLACE = { host: '127.0.0.1', port: 0, setting: 'PORT', origin: 'http://127.0.0.1' };

async function server() {
  const router = new Hono<DeskEnv>();
  router.get('/', (context) => context.text('answered'));
  const listening = await listen(
    PLACE,
    async () => router,
    () => {},
  );
  const port = Number(new URL(listening.url).port);
  return { ...listening, port };
}

/** Opens a connection and sends a text. `received` resolves when it is closed. */
function opened(t: TestContext, port: number, text: string) {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let bytes = '';
  socket.setEncoding('latin1').on('data', (more: string) => {
    bytes += more;
  });
  socket.on('error', (error) => {
    bytes += error.message;
  });
  if (text !== '') socket.write(text);
  return { socket, received: once(socket, 'close').then(() => bytes) };
}

test('a server that closes answers the connections that the system had made for it', async (t) => {
  const { port, close } = await server();
  const callers = Array.from({ length: 40 }, () => opened(t, port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
  // The system is asked to connect in this tick. Accepting them takes a turn of this thread for each.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await Promise.all([close(), ...callers.map(({ socket }) => once(socket, 'close'))]);
  for (const { received } of callers) assert.match(await received, /^HTTP\/1\.1 200 [\s\S]*answered$/);
});

test('idle connections do not delay a closing server, half-sent requests do', { skip: ONLY_WIDE }, async (t) => {
  const { port, close } = await server();
  const silent = Array.from({ length: 5 }, () => opened(t, port, ''));
  const half = opened(t, port, 'GET / HTTP/1.1\r\nHost');
  await Promise.all([...silent, half].map(({ socket }) => once(socket, 'connect')));
  const closed = close();
  await Promise.all(silent.map(({ received }) => received));
  assert.equal(half.socket.readyState, 'open');
  half.socket.write(': x\r\n\r\n');
  assert.match(await half.received, /^HTTP\/1\.1 200 [\s\S]*^connection: close\r\n[\s\S]*answered$/im);
  await closed;
});
