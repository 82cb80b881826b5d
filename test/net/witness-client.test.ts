import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { test } from 'node:test';
import { LogFault } from '../../src/proof/log/log-fault.ts';
import { witnessClient } from '../../src/signing/log/witness-client.ts';
import { tempFolder } from '../support/app-context.ts';
import { selfSigned } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { ed25519Witness, MemoryLog } from '../support/log.ts';
import { loopback } from '../support/loopback.ts';
import { receiver } from '../support/receiver.ts';

const BODY = 'old 0\n\nlog.example\n';
/** For witnesses that never end. */
const submit = witnessClient('Broadsheet/test', { deadline: 1_000 });
/** For those that answer, with a deadline that no loaded machine comes near. */
const submitPatiently = witnessClient('Broadsheet/test', { deadline: 60_000 });

const log = new MemoryLog();
log.append(['a']);
const LINES = ed25519Witness('witness.example/w1', 4).cosign(log.checkpoint(), 1).slice(log.checkpoint().length);

/** A witness that answers as a test wants. */
async function witness(t: Parameters<typeof receiver>[0], answer: (response: ServerResponse) => void) {
  const at = await receiver(t);
  at.answer = (_request, response) => answer(response);
  return { at, url: `http://127.0.0.1:${at.port}/` };
}

/** The message of the fault with which a request ends. */
async function fault(url: string, send = submit): Promise<string> {
  try {
    await send(url, BODY);
  } catch (error) {
    assert(error instanceof LogFault, String(error));
    assert(!error.message.includes('\n'), error.message);
    return error.message;
  }
  throw new Error('no fault');
}

test('a checkpoint is posted to add-checkpoint, below an address with and without a last slash', async (t) => {
  const { at } = await witness(t, (response) => response.end(LINES));
  for (const address of ['/w', '/w/']) {
    const answer = await submitPatiently(`http://127.0.0.1:${at.port}${address}`, BODY);
    assert(answer.kind === 'cosigned' && answer.lines.length === 1);
  }
  assert.deepEqual(
    at.got.map(({ path, body }) => [path, body]),
    [
      ['/w/add-checkpoint', BODY],
      ['/w/add-checkpoint', BODY],
    ],
  );
});

test('a conflict says the size that the witness has seen', async (t) => {
  const { url } = await witness(t, (response) =>
    response.writeHead(409, { 'Content-Type': 'text/x.tlog.size' }).end('20\n'),
  );
  assert.deepEqual(await submitPatiently(url, BODY), { kind: 'conflict', size: 20 });
});

/** Sends a byte every few ms until the connection is closed. */
function drip(response: ServerResponse, byte: string): void {
  const timer = setInterval(() => response.write(byte), 20);
  response.on('close', () => clearInterval(timer));
}

const ANSWERS: [claim: string, answer: (response: ServerResponse) => void, words: RegExp][] = [
  ['200 with an empty body', (to) => to.end(), /response does not consist of signature lines: ""$/],
  ['nonsense', (to) => to.end('<html>\n<p>hello\n'), /does not consist of signature lines: "<html>\\n<p>hello\\n"$/],
  ['lines that stop in the middle', (to) => to.end(LINES.slice(0, -9)), /does not consist of signature lines/],
  ['bytes that are not text', (to) => to.end(Buffer.alloc(300, 0xff)), /does not consist of signature lines/],
  [
    'a redirect',
    (to) => to.writeHead(308, { Location: '/elsewhere' }).end(),
    /answered 308, a redirect: name its final/,
  ],
  ['no answer', () => {}, /did not answer within 1 s/],
  ['a byte now and then', (to) => drip(to.writeHead(200), '—'), /response did not end within 1 s/],
  ['a closed connection', (to) => to.destroy(), /closed the connection without an answer/],
  [
    'half an answer',
    (to) => to.writeHead(200, { 'Content-Length': '900' }).write(LINES, () => to.destroy()),
    /closed the connection before the end of its answer/,
  ],
  ['409 without a size', (to) => to.writeHead(409).end(), /409 without a size of type text\/x\.tlog\.size/],
  ['500 with two lines', (to) => to.writeHead(500).end('no\nmore'), /answered 500: "no\\nmore"; [^\n]+$/],
  ['204', (to) => to.writeHead(204).end(), /answered 204$/],
];
for (const [claim, answer, words] of ANSWERS) {
  test(`a witness that answers with ${claim} is one line`, async (t) => {
    const { at, url } = await witness(t, answer);
    assert.match(await fault(url), words);
    assert.equal(at.got.length, 1, 'one request, and no redirect is followed');
  });
}

test('of 10 MB only as much is read as a few lines can have, for any status', async (t) => {
  for (const [status, words] of [
    [200, /more than 65536 bytes/],
    [409, /more than 65536 bytes/],
    [500, /answered 500; an omniwitness may not follow this log: give its operator [^\n]+$/],
  ] as const) {
    let sent = 0;
    const whole = 10 << 20;
    const { url } = await witness(t, (response) => {
      response.writeHead(status, { 'Content-Length': String(whole) });
      const chunk = Buffer.alloc(64 << 10, 'x');
      const more = () => {
        while (sent < whole && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
      };
      more();
    });
    assert.match(await fault(url), words);
    assert.ok(sent < whole, `${sent} bytes were sent before the rest was dropped`);
  }
});

test('headers that arrive a byte at a time end at the deadline', async (t) => {
  const server = createTcpServer((socket) => {
    const timer = setInterval(() => socket.write('H'), 20);
    socket.on('error', () => {}).on('close', () => clearInterval(timer));
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
  });
  const port = await freePort();
  server.listen(port, '127.0.0.1');
  t.after(() => server.close());
  assert.match(await fault(`http://127.0.0.1:${port}/`), /did not answer within 1 s/);
});

test('an address where nothing listens, or another protocol', async (t) => {
  assert.match(await fault(`http://127.0.0.1:${await freePort()}/`), /refused the connection/);
  const ssh = createTcpServer((socket) => socket.on('error', () => {}).once('data', () => socket.end('SSH-2.0-x\r\n')));
  const port = await freePort();
  ssh.listen(port, '127.0.0.1');
  t.after(() => ssh.close());
  assert.match(await fault(`http://127.0.0.1:${port}/`), /does not speak HTTP/);
});

test('a certificate must be trusted and of that host, and TLS must be there', async (t) => {
  const { key, cert } = selfSigned(tempFolder(t), { subject: '/CN=localhost', san: ['DNS:localhost'] });
  const at = await receiver(t, { tls: { key, cert } });
  at.answer = (_request, response) => response.end(LINES);
  const trusting = witnessClient('test', { ca: cert });
  assert.match(await fault(`https://localhost:${at.port}/`, witnessClient('test')), /no TLS connection/);
  assert.match(await fault(`https://127.0.0.1:${at.port}/`, trusting), /no TLS connection/);
  assert.equal((await trusting(`https://localhost:${at.port}/`, BODY)).kind, 'cosigned');
  const plain = await loopback(t, createServer());
  assert.match(await fault(plain.replace('http:', 'https:'), trusting), /no TLS connection/);
});
