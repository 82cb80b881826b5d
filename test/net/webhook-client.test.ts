import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ClientOptions, createWebhookClient, webhookClient } from '../../src/shared/net/outbound-client.ts';
import { webhookProblem } from '../../src/shared/outbound/webhook-url.ts';
import { isPublicAddress } from '../../src/shared/public-address.ts';
import { tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';
import { receiver } from '../support/receiver.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const AGENT = 'Broadsheet/test';
const local: ClientOptions = { agent: AGENT, allows: () => true, resolve: async () => ['127.0.0.1'], deadline: 400 };

/** What came of one request: the status and the word for what was wrong. */
async function outcome(url: string, options: Partial<ClientOptions> = {}) {
  const { status, error } = await webhookClient({ ...local, ...options }).post(url, { 'webhook-id': 'x' }, '{"a":"ü"}');
  return [status, error];
}

test('a request arrives complete, with its headers', async (t) => {
  const at = await receiver(t);
  assert.deepEqual(await outcome(at.url), [204, null]);
  const [got] = at.got;
  assert.equal(got?.body, '{"a":"ü"}');
  assert.equal(got.headers['content-type'], 'application/json');
  assert.equal(got.headers['user-agent'], AGENT);
  assert.equal(got.headers['webhook-id'], 'x');
  assert.equal(got.headers['content-length'], '10');
  assert.equal(got.headers.host, `127.0.0.1:${at.port}`);
});

test('a 2xx status is success, any other is not, and redirects are not followed', async (t) => {
  const at = await receiver(t);
  const expected = [
    [200, null],
    [201, null],
    [299, null],
    [301, 'redirect'],
    [302, 'redirect'],
    [307, 'redirect'],
    [308, 'redirect'],
    [400, 'status'],
    [404, 'status'],
    [410, 'gone'],
    [429, 'status'],
    [500, 'status'],
    [503, 'status'],
  ] as const;
  for (const [status, error] of expected) {
    at.answer = (_request, response) => response.writeHead(status, { Location: at.url }).end('hello');
    assert.deepEqual(await outcome(at.url), [status, error]);
  }
  assert.equal(at.got.length, expected.length);
});

test('receivers that hang, close, or talk too much', { skip: ONLY_WIDE }, async (t) => {
  const at = await receiver(t);

  at.answer = () => {};
  assert.deepEqual(await outcome(at.url), [null, 'timeout'], 'no answer');

  at.answer = (_request, response) => response.socket?.destroy();
  assert.deepEqual(await outcome(at.url), [null, 'closed'], 'closed without an answer');

  at.answer = (_request, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('half of', () => response.socket?.destroy());
  };
  assert.deepEqual(await outcome(at.url), [200, null], 'closed after the status: it was taken');

  let sent = 0;
  const whole = 10 << 20;
  at.answer = (_request, response) => {
    response.writeHead(200, { 'Content-Length': String(whole) });
    const chunk = Buffer.alloc(64 << 10, 'x');
    const more = () => {
      while (sent < whole && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
    };
    more();
  };
  assert.deepEqual(await outcome(at.url, { deadline: 10_000 }), [200, null], '10 MB');
  assert.ok(sent < whole, `${sent} bytes were taken before the rest was dropped`);

  at.answer = (_request, response) => {
    response.writeHead(500);
    const timer = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(timer));
  };
  const { status, error } = await webhookClient({ ...local, deadline: 60_000 }).post(at.url, {}, '{}');
  assert.deepEqual([status, error], [500, 'status'], 'an answer that never ends');

  assert.deepEqual(await outcome(`http://127.0.0.1:${await closedPort()}/`), [null, 'refused']);

  const raw = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  }).listen(0, '127.0.0.1');
  t.after(() => raw.close());
  await once(raw, 'listening');
  assert.deepEqual(await outcome(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/`), [null, 'not_http']);
});

test('a name that leads nowhere, or is never answered', async () => {
  assert.deepEqual(await outcome('http://news.example/', { resolve: async () => [] }), [null, 'dns']);
  const failing = async () => {
    throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
  };
  assert.deepEqual(await outcome('http://news.example/', { resolve: failing }), [null, 'dns']);
  assert.deepEqual(await outcome('http://news.example/', { resolve: () => new Promise(() => {}) }), [null, 'timeout']);
});

test('a certificate must be trusted and of that name', async (t) => {
  const folder = tempFolder(t);
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string];
  execFileSync(
    'openssl',
    // biome-ignore format: one option beside its value
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1',
      '-subj', '/CN=hooks.example', '-addext', 'subjectAltName=DNS:hooks.example', '-keyout', key, '-out', cert],
    { stdio: 'ignore' },
  );
  const pems = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  const at = await receiver(t, { tls: pems });
  const deadline = 10_000;
  const url = `https://hooks.example:${at.port}/hook`;
  assert.deepEqual(await outcome(url, { deadline }), [null, 'tls'], 'signed by itself');
  assert.deepEqual(await outcome(url, { deadline, ca: pems.cert }), [204, null]);
  const other = `https://other.example:${at.port}/hook`;
  assert.deepEqual(await outcome(other, { deadline, ca: pems.cert }), [null, 'tls'], 'of another name');
  assert.equal(at.got.length, 1);
  const plain = await receiver(t);
  assert.deepEqual(await outcome(`https://127.0.0.1:${plain.port}/`, { deadline }), [null, 'tls'], 'no TLS there');
});

test('a name that leads to a public address at first and to a private one after is not followed there', async (t) => {
  // Two addresses of the loopback stand for a public and a private one.
  const [open, hidden] = ['127.0.0.2', '127.0.0.1'];
  const outside = await receiver(t, { host: open });
  const inside = await receiver(t, { host: hidden, port: outside.port });
  const answers = [[open], [hidden], [open, hidden], [hidden, open], [open]];
  let asked = 0;
  const client = webhookClient({
    ...local,
    allows: (address) => address === open,
    resolve: async () => answers[asked++] ?? [],
  });
  const outcomes = [];
  for (const _ of answers) {
    const { status, error } = await client.post(`http://rebind.example:${outside.port}/`, {}, '{}');
    outcomes.push(error ?? status);
  }
  assert.deepEqual(outcomes, [204, 'private_address', 'private_address', 'private_address', 204]);
  assert.equal(asked, answers.length, 'each request asks once, and connects to what was answered');
  assert.equal(inside.connections, 0);
  assert.equal(outside.connections, 2);
});

test('without the setting nothing private is reached, however it is written', async (t) => {
  const at = await receiver(t);
  const client = createWebhookClient(AGENT, false);
  for (const host of ['127.0.0.1', '0x7f.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '[::]', '0.0.0.0']) {
    const { status, error } = await client.post(`http://${host}:${at.port}/`, {}, '{}');
    assert.deepEqual([status, error], [null, 'private_address'], host);
  }
  assert.equal(at.connections, 0);
});

test('only addresses of the Internet at large are public', () => {
  const publicOnes = ['1.1.1.1', '93.184.215.14', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '::ffff:8.8.8.8'];
  const others = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::a00:1',
    '64:ff9b:1::a00:1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:a00:1::1',
    '3fff::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'nonsense',
    '',
  ];
  assert.deepEqual(
    publicOnes.filter((address) => !isPublicAddress(address)),
    [],
  );
  assert.deepEqual(others.filter(isPublicAddress), []);
});

test('addresses of webhooks that are refused, with the reason', () => {
  const refused = {
    'http://hooks.example.org/': /not an https/,
    'ftp://hooks.example.org/': /not an https/,
    nonsense: /not an https/,
    'https://user:secret@hooks.example.org/': /user name/,
    'https://hooks.example.org/#part': /fragment/,
    'https://localhost/': /not public/,
    'https://printer.local/': /not public/,
    'https://intranet/': /not public/,
    'https://10.0.0.1/': /not public/,
    'https://[::1]/': /not public/,
    'https://169.254.169.254/latest/meta-data/': /not public/,
    'https://2852039166/': /not public/,
    'https://127.1./': /not public/,
    [`https://hooks.example.org/${'x'.repeat(2_000)}`]: /longer/,
  };
  for (const [url, reason] of Object.entries(refused)) assert.match(webhookProblem(url) ?? 'taken', reason, url);
  for (const url of ['https://hooks.example.org/', 'https://hooks.example.org:8443/a?b=c', 'https://1.1.1.1/']) {
    assert.equal(webhookProblem(url), null, url);
  }
  assert.equal(webhookProblem('http://10.0.0.1:8080/', true), null);
  assert.match(webhookProblem('http://user:secret@10.0.0.1/', true) ?? 'taken', /user name/);
  assert.match(webhookProblem('ftp://10.0.0.1/', true) ?? 'taken', /not an https/);
});

test('a proxy in the environment is not used', async (t) => {
  const proxy = await receiver(t);
  const at = await receiver(t);
  const folder = tempFolder(t);
  const env = {
    WEBHOOK_PRIVATE: 'allow',
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
    http_proxy: `http://127.0.0.1:${proxy.port}`,
    ALL_PROXY: `http://127.0.0.1:${proxy.port}`,
  };
  const id = await addWebhook(t, folder, at.url, env);
  const { code, stdout, stderr } = await run(t, folder, ['webhook', 'test', id, '--paper', 'harbor-ledger'], env);
  assert.equal(code, 0, stdout + stderr);
  assert.equal(at.got.length, 1);
  assert.equal(proxy.connections, 0);
});

async function addWebhook(t: TestContext, folder: string, url: string, env: Record<string, string>): Promise<string> {
  const { createPaper, appContextIn } = await import('../support/app-context.ts');
  const app = appContextIn(t, folder, { now: Date.now() });
  createPaper(app);
  const { stdout, stderr } = await run(t, folder, ['webhook', 'add', url, '--paper', 'harbor-ledger', '--json'], env);
  assert.ok(stdout !== '', stderr);
  return (JSON.parse(stdout) as { id: string }).id;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
