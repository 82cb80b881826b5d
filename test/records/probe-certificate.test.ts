import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { allowing } from '../../src/records/probe/prober.ts';
import { type CertificateProbe, hostsIn, tlsProbe } from '../../src/records/probe/tls-probe.ts';
import { type Scope, tempFolder } from '../support/app-context.ts';
import { selfSigned } from '../support/certificates.ts';

const HOST = 'host.example';
const HERE = '127.0.0.1';

async function listening(t: Scope, server: Server): Promise<{ port: number; connections(): number }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.on('tlsClientError', () => {});
  server.listen(0, HERE);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** What a look makes of a server at loopback. */
async function lookedAt(t: Scope, server: Server, timeout?: number): Promise<CertificateProbe> {
  const { port } = await listening(t, server);
  return tlsProbe({ allows: allowing(['127.0.0.0/8']), port, timeout })(HOST, [HERE]);
}

const tlsServer = (options: TlsOptions) => createTlsServer(options, (socket) => socket.on('error', () => {}));

/** A server that sends bytes to every client. */
const plainServer = (...messages: (string | Uint8Array)[]) =>
  createServer((socket) => {
    socket.once('data', () => {
      for (const message of messages) socket.write(message);
    });
  });

test('a certificate is read whatever its issuer and subject', async (t) => {
  const pair = selfSigned(tempFolder(t), {
    subject: '/C=NO/O=Å, Bø Co/CN=Somebody else',
    san: [
      'DNS:B.Example',
      'DNS:a.example',
      'DNS:*.a.example',
      'IP:192.0.2.1',
      'DNS:a.example',
      'DNS:x.example, DNS:forged.example',
    ],
  });
  let asked: string | undefined;
  const server = tlsServer({
    ...pair,
    SNICallback: (name, done) => {
      asked = name;
      done(null);
    },
  });
  const { certificate, certificate_status } = await lookedAt(t, server);
  assert.equal(certificate_status, 'ok');
  assert.equal(asked, HOST);
  assert.deepEqual(certificate, {
    issuer: 'CN=Somebody else, O=Å\\, Bø Co, C=NO',
    subject: 'CN=Somebody else, O=Å\\, Bø Co, C=NO',
    not_before: '2026-01-01T00:00:00.000Z',
    not_after: '2126-01-01T00:00:00.000Z',
    fingerprint256: pair.fingerprint,
    san: ['*.a.example', 'a.example', 'b.example', 'x.example, dns:forged.example'],
  });
});

test('certificates that ended, that are weak or empty are read all the same', async (t) => {
  const folder = tempFolder(t);
  const ended = selfSigned(join(folder, 'ended'), {
    subject: `/CN=${HOST}`,
    from: '20190101000000Z',
    until: '20190201000000Z',
  });
  const old = await lookedAt(t, tlsServer(ended));
  assert.equal(old.certificate?.not_after, '2019-02-01T00:00:00.000Z');
  assert.deepEqual(old.certificate?.san, []);
  const weak = selfSigned(join(folder, 'weak'), {
    subject: `/CN=${HOST}`,
    key: ['-newkey', 'rsa:1024'],
    digest: 'sha1',
  });
  const seen = await lookedAt(
    t,
    tlsServer({ ...weak, ciphers: 'DEFAULT:@SECLEVEL=0', minVersion: 'TLSv1', maxVersion: 'TLSv1' }),
  );
  assert.equal(seen.certificate?.fingerprint256, weak.fingerprint);
});

test('no TLS at all is known; silence, noise and hanging up are not', async (t) => {
  const none = { certificate: null, certificate_status: 'none' };
  assert.deepEqual(await lookedAt(t, plainServer('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')), none);
  assert.deepEqual(
    await lookedAt(
      t,
      createServer((socket) => void socket.write('SSH-2.0-OpenSSH_9.2\r\n')),
    ),
    none,
  );
  const { port } = await listening(t, createServer());
  const closed = createServer().listen(0, HERE);
  await once(closed, 'listening');
  const free = (closed.address() as AddressInfo).port;
  await new Promise((done) => closed.close(done));
  const allows = allowing(['127.0.0.1']);
  assert.deepEqual(await tlsProbe({ allows, port: free })(HOST, [HERE]), none);
  const timeout = { certificate: null, certificate_status: 'timeout' };
  assert.deepEqual(await tlsProbe({ allows, port, timeout: 50 })(HOST, [HERE]), timeout);
  // A byte of a handshake now and then does not stretch the time.
  const dripping = createServer((socket) => {
    socket.write(Buffer.from('160303', 'hex'));
    const drip = setInterval(() => socket.write(Buffer.from([1])), 5);
    socket.on('close', () => clearInterval(drip));
  });
  assert.notEqual((await lookedAt(t, dripping, 100)).certificate_status, 'ok');
  const error = { certificate: null, certificate_status: 'error' };
  assert.deepEqual(
    await lookedAt(
      t,
      createServer((socket) => socket.destroy()),
    ),
    error,
  );
  assert.deepEqual(await lookedAt(t, tlsServer({})), error, 'a server without a certificate');
});

test('a garbage certificate is not a certificate', async (t) => {
  const length = (size: number, bytes: number) => Buffer.from(size.toString(16).padStart(bytes * 2, '0'), 'hex');
  const message = (type: number, body: Buffer) => Buffer.concat([Buffer.from([type]), length(body.length, 3), body]);
  const record = (body: Buffer) => Buffer.concat([Buffer.from('160303', 'hex'), length(body.length, 2), body]);
  // RFC 5246, section 7.4.1.3: TLS 1.2, ECDHE-RSA with AES-128-GCM, secure renegotiation.
  const hello = Buffer.concat([
    Buffer.from('0303', 'hex'),
    Buffer.alloc(32, 7),
    Buffer.from('00c02f000005ff01000100', 'hex'),
  ]);
  for (const garbage of [Buffer.alloc(0), Buffer.from('not a certificate'), Buffer.alloc(3_000, 0x30)]) {
    const list = Buffer.concat([length(garbage.length, 3), garbage]);
    const certificate = Buffer.concat([length(list.length, 3), list]);
    const server = plainServer(record(message(2, hello)), record(message(11, certificate)));
    assert.deepEqual(await lookedAt(t, server, 2_000), { certificate: null, certificate_status: 'error' });
  }
});

test('an address that is not the Internet’s is not connected to, unless a setting names it', async (t) => {
  const folder = tempFolder(t);
  const { port, connections } = await listening(t, tlsServer(selfSigned(folder, { subject: `/CN=${HOST}` })));
  const skipped = { certificate: null, certificate_status: 'skipped' };
  for (const networks of [[], ['10.0.0.0/8', '::1', '127.0.0.2']]) {
    const look = tlsProbe({ allows: allowing(networks), port });
    assert.deepEqual(await look(HOST, [HERE, '::ffff:127.0.0.1']), skipped);
  }
  assert.equal(connections(), 0);
  assert.equal((await tlsProbe({ allows: allowing([HERE]), port })(HOST, ['10.0.0.1', HERE])).certificate_status, 'ok');
  const allows = allowing([]);
  const inner =
    '0.0.0.0 10.1.2.3 100.64.0.1 127.1.2.3 169.254.169.254 172.16.0.1 192.168.1.1 192.0.2.1 198.18.0.1 224.0.0.1 ' +
    '255.255.255.255 :: ::1 ::ffff:10.0.0.1 64:ff9b::a00:1 fc00::1 fe80::1 ff02::1 2001:db8::1 2002:a00:1:: 2001:0:1::1';
  for (const address of inner.split(' ')) assert.equal(allows(address), false, address);
  for (const address of ['', 'localhost', '0x7f.1', '127.1']) assert.equal(allows(address), false, address);
  for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700::1111']) assert.equal(allows(address), true, address);
});

test('the second address is tried when the first shows none', async (t) => {
  const folder = tempFolder(t);
  const pair = selfSigned(folder, { subject: `/CN=${HOST}` });
  const { port } = await listening(t, tlsServer(pair));
  const look = tlsProbe({ allows: allowing(['127.0.0.0/8']), port });
  // Nobody listens at the first.
  const seen = await look(HOST, ['127.0.0.9', HERE]);
  assert.equal(seen.certificate?.fingerprint256, pair.fingerprint);
  assert.equal((await look(HOST, ['127.0.0.8', '127.0.0.9', HERE])).certificate_status, 'none');
});

test('U+0000 in a certificate’s name is stored escaped', () => {
  // As Node writes a forged name (CVE-2021-44532).
  assert.deepEqual(hostsIn('DNS:"ev\\u0000il.example", DNS:a.example'), ['a.example', 'ev\\000il.example']);
});
