import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Hono } from 'hono';
import pino from 'pino';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { DeskEnv } from '../../api/env.ts';
import { listen } from '../../api/listen.ts';
import { proxyList } from '../../api/middleware/caller.ts';
import { keptAnswer, keptAnswers } from '../../api/middleware/kept-answers.ts';
import { answerLog } from '../../api/middleware/log.ts';
import { measurements } from '../../src/app/measurements.ts';
import { ask } from '../support/http.ts';
import { shout } from '../support/raw.ts';

const KEPT = 'what is kept';
const ROUTER = 'what the router says';
/** More than the buffers between a server and its caller take. */
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'a');

/** A server that keeps the answer of `/k/a.example`, and whose router says something else. */
async function server(t: TestContext, { points = 100, trusted = [] as string[] } = {}) {
  const lines: string[] = [];
  const kept = keptAnswers(
    {
      prefix: '/k/',
      pattern: '/k/{name}',
      kept(segment, accept) {
        if (segment === 'broken.example') throw new Error('the database cannot be read');
        if (segment === 'large.example') return keptAnswer(LARGE, {});
        if (segment !== 'a.example' || accept === 'text/html') return null;
        return keptAnswer(Buffer.from(KEPT), { 'Content-Type': 'text/plain' });
      },
    },
    {
      log: answerLog(pino({}, { write: (line: string) => void lines.push(line) }), 'records'),
      proxies: proxyList(trusted),
      limiter: new RateLimiterMemory({ points, duration: 60 }),
    },
  );
  const router = new Hono<DeskEnv>().all('*', (c) => c.text(ROUTER));
  const place = { host: '127.0.0.1', port: 0, setting: 'PORT', origin: 'http://127.0.0.1' };
  const { url, close } = await listen(
    place,
    async () => ({ router, kept }),
    () => {},
  );
  t.after(close);
  const textOf = async (path: string, headers?: Record<string, string>, method?: string) =>
    (await ask(url, path, headers, method)).text;
  return { url, lines, textOf, close };
}

test('what is kept is answered with an id, its length, a line in the log and a measurement', async (t) => {
  const { url, lines } = await server(t);
  const measured: unknown[] = [];
  t.after(measurements.request.subscribe(({ ms: _, ...rest }) => measured.push(rest)));
  const { status, text, headers } = await ask(url, '/k/a.example', { 'x-request-id': 'given-7' });
  assert.deepEqual([status, text], [200, KEPT]);
  assert.equal(headers['x-request-id'], 'given-7');
  assert.equal(headers['content-length'], String(KEPT.length));
  const other = (await ask(url, '/k/a.example', { 'x-request-id': 'not an id' })).headers['x-request-id'];
  assert.match(String(other), /^[\da-f-]{36}$/);
  const line = JSON.parse(lines[0] ?? '');
  assert.deepEqual(
    [line.request_id, line.method, line.path, line.status, line.msg],
    ['given-7', 'GET', '/k/a.example', 200, 'answered'],
  );
  assert.deepEqual(measured[0], { service: 'records', method: 'GET', route: '/k/{name}', status: 200 });
});

test('whatever may be answered otherwise is left to the router', async (t) => {
  const { url, lines, textOf } = await server(t);
  for (const header of [
    ...['cookie', 'authorization', 'x-nrf-key', 'x-service-key', 'x-payment', 'payment-signature'],
    ...['if-none-match', 'content-type', 'x-forwarded-for', 'forwarded', 'x-real-ip'],
  ]) {
    assert.equal(await textOf('/k/a.example', { [header]: 'x' }), ROUTER, header);
  }
  assert.equal(await textOf('/k/a.example', { 'content-length': '0' }), ROUTER);
  assert.equal(await textOf('/k/a.example', { accept: 'text/html' }), ROUTER);
  assert.notEqual(await textOf('/k/a.example', { host: 'a b' }), KEPT);
  for (const path of [
    '/k/a.example?',
    '/k/a.example/',
    '/k/A.example',
    '/k/a%2eexample',
    '/k/',
    '/k',
    '/k/broken.example',
  ])
    assert.equal(await textOf(path), ROUTER, path);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    assert.equal(await textOf('/k/a.example', {}, method), ROUTER, method);
  const twoHosts = 'GET /k/a.example HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\nConnection: close\r\n\r\n';
  assert.match(await shout(url, twoHosts), /^HTTP\/1.1 400 /);
  assert.deepEqual(lines, []);
});

test('callers elsewhere are counted, and over the limit the router tells them', async (t) => {
  const { textOf } = await server(t, { points: 2, trusted: ['127.0.0.1'] });
  const from = (address: string) => textOf('/k/a.example', { 'x-forwarded-for': address });
  assert.deepEqual([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1')], [KEPT, KEPT, ROUTER]);
  assert.equal(await from('192.0.2.2'), KEPT);
  for (let n = 0; n < 4; n++) assert.equal(await textOf('/k/a.example'), KEPT);
});

test('a server that stops sends an answer that is under way to its end, and then ends its connection', async (t) => {
  const { url, close } = await server(t);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  t.after(() => socket.destroy());
  socket.write('GET /k/large.example HTTP/1.1\r\nHost: a.example\r\n\r\n');
  await once(socket, 'readable');
  const closed = close();
  await pause(300);
  let length = 0;
  for await (const chunk of socket) length += (chunk as Buffer).length;
  await closed;
  assert.ok(length > LARGE.length, `${length} bytes, with the headers`);
});
