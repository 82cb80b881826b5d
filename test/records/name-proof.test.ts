import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { encode } from 'dns-packet';
import { FILE_PATH, proofText, TXT_LABEL } from '../../src/records/accounts/owner.ts';
import { nameProver } from '../../src/records/probe/name-proof.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { selfSigned } from '../support/certificates.ts';
import { startKnot, startUnbound, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { freePort } from '../support/free-port.ts';
import { lyingServer } from '../support/lying-server.ts';
import { run, serve } from '../support/program.ts';
import { send } from '../support/send.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const TOKEN = 'x'.repeat(43);
const TEXT = proofText(TOKEN);
const REST = `${'y'.repeat(250)}`;

type Answering = Parameters<typeof createServer>[1];

/** A web server over TLS for these names, on loopback. */
async function webServer(t: TestContext, names: string[], answer: Answering, port = 0, host = '127.0.0.1') {
  const { key, cert } = selfSigned(tempFolder(t), {
    subject: `/CN=${names[0]}`,
    san: names.map((name) => `DNS:${name}`),
  });
  const server: Server = createServer({ key, cert }, answer);
  server.listen(port, host);
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, ca: cert };
}

function proverAt(t: TestContext, dns: number, web: { port: number; ca: string }, more: Record<string, string> = {}) {
  const env = { RESOLVERS: `127.0.0.1:${dns}`, TLS_PRIVATE: '127.0.0.0/8', ...more };
  const prove = nameProver(readSettings(envIn(tempFolder(t), env)), web);
  return (name: string) => prove(name, { record: `${TXT_LABEL}.${name}`, path: FILE_PATH, text: TEXT });
}

/** A loopback address that nothing else serves. */
const HTTPS_HOST = '127.0.44.3';
const NOWHERE = { port: 9, ca: '' };

test('a TXT record proves a name, however it is written', { skip: WITHOUT_SERVERS }, async (t) => {
  const many = Array.from({ length: 90 }, (_, n) => `_broadsheet.many TXT "other ${n} ${'z'.repeat(200)}"`);
  const knot = await startKnot(join(tempFolder(t), 'knot'), [
    {
      name: 'example.com',
      lines: [
        `_broadsheet TXT "${TEXT}"`,
        `_broadsheet.split TXT "${TEXT.slice(0, 9)}" "${TEXT.slice(9)}"`,
        `_broadsheet.spaced TXT "  ${TEXT} "`,
        '_broadsheet.other TXT "v=spf1 -all"',
        `_broadsheet.longer TXT "${TEXT}y"`,
        '_broadsheet.hostile TXT "\\000\\255\\226\\128\\174" "\\034\\092"',
        ...many,
        `_broadsheet.many TXT "${TEXT}"`,
        `_broadsheet.big TXT ${Array.from({ length: 240 }, () => `"${REST}"`).join(' ')}`,
        `_broadsheet.big TXT "${TEXT}"`,
        '_broadsheet.alias CNAME proof.elsewhere',
        `proof.elsewhere TXT "${TEXT}"`,
        '_broadsheet.dangling CNAME nothing.elsewhere',
        `*.wild TXT "${TEXT}"`,
        'empty A 192.0.2.1',
        '_broadsheet.nodata A 192.0.2.1',
      ],
    },
  ]);
  t.after(knot.stop);
  const prove = proverAt(t, knot.port, NOWHERE);
  const said = async (name: string) => Object.values((await prove(name)).txt).join(' ');
  assert.equal(await said('example.com'), 'found found');
  for (const name of ['split', 'spaced', 'many', 'big', 'alias', 'a.wild']) {
    assert.equal(await said(`${name}.example.com`), 'found found', name);
  }
  for (const name of ['other', 'longer', 'hostile'])
    assert.equal(await said(`${name}.example.com`), 'absent other_text');
  assert.equal(await said('nodata.example.com'), 'absent nodata');
  assert.equal(await said('dangling.example.com'), 'absent nodata');
  assert.equal(await said('empty.example.com'), 'absent nxdomain');
});

test('what a resolver cannot say disproves nothing', { skip: WITHOUT_SERVERS }, async (t) => {
  const folder = tempFolder(t);
  const knot = await startKnot(join(folder, 'knot'), [
    { name: 'example.com', lines: [`_broadsheet TXT "${TEXT}"`] },
    { name: 'plain.org', lines: [`_broadsheet TXT "${TEXT}"`] },
  ]);
  t.after(knot.stop);
  // With a trust anchor for a zone that is not signed, every answer of it is bogus.
  const bogus = await startUnbound(join(folder, 'unbound'), {
    zones: ['plain.org', 'example.com'],
    server: knot,
    anchors: [`example.com. DS 12345 13 2 ${'AB'.repeat(32)}`],
  });
  t.after(bogus.stop);
  assert.equal((await proverAt(t, bogus.port, NOWHERE)('plain.org')).txt.outcome, 'found');
  const { txt } = await proverAt(t, bogus.port, NOWHERE)('example.com');
  assert.deepEqual(txt, { outcome: 'unknown', detail: 'servfail' });
});

test('a resolver that is silent disproves nothing', { skip: ONLY_WIDE }, async (t) => {
  const silent = await lyingServer(t, () => []);
  const wait = await proverAt(t, silent.port, NOWHERE)('example.com');
  assert.equal(wait.txt.outcome, 'unknown');
  assert.equal(wait.file.outcome, 'unknown');
});

test('a TXT answer of 64 kB, or of garbage, is read to its end', async (t) => {
  const liar = await lyingServer(t, ({ by, query }) => {
    const [question] = query.questions ?? [];
    if (question?.type !== 'TXT')
      return [encode({ id: query.id, type: 'response', flags: 0x0180 | 3, questions: query.questions })];
    if (by === 'udp') {
      return [encode({ id: query.id, type: 'response', flags: 0x0200 | 0x0100 | 0x0080, questions: query.questions })];
    }
    const data = [...Array.from({ length: 240 }, () => 'y'.repeat(250)), TEXT];
    const answers = [{ type: 'TXT' as const, name: question.name, ttl: 60, data }];
    return [encode({ id: query.id, type: 'response', flags: 0x0100 | 0x0080, questions: query.questions, answers })];
  });
  const { txt } = await proverAt(t, liar.port, NOWHERE)('example.com');
  // The proof is at the end of one long text, so it is none; and nothing fails.
  assert.deepEqual(txt, { outcome: 'absent', detail: 'other_text' });
});

test('a file proves a name over TLS alone, and nothing but that file', { skip: WITHOUT_SERVERS }, async (t) => {
  const names = [
    ...[
      'fine',
      'lines',
      'bom',
      'gone',
      'missing',
      'moved',
      'inward',
      'other',
      'huge',
      'endless',
      'broken',
      'denied',
      'hostile',
    ],
    ...['nocontent', 'untrusted'],
  ];
  const hosts = names.map((name) => `${name}.example.com`);
  const knot = await startKnot(join(tempFolder(t), 'knot'), [
    {
      name: 'example.com',
      lines: [
        ...names.map((name) => `${name} A 127.0.0.1`),
        'private A 10.0.0.1',
        'mixed A 127.0.0.1',
        'mixed A 10.0.0.1',
      ],
    },
  ]);
  t.after(knot.stop);
  const asked: string[] = [];
  const answering: Answering = (request, response) => {
    asked.push(`${request.method} ${request.headers.host?.split('.')[0]} ${request.url}`);
    const plain = (status: number, text: string | Buffer, headers = {}) =>
      response.writeHead(status, headers).end(text);
    switch (request.headers.host?.split('.')[0]) {
      case 'fine':
        return plain(200, `${TEXT}\n`);
      case 'lines':
        return plain(200, `# ours\r\n${proofText('z'.repeat(43))}\r\n  ${TEXT}\r\n`);
      case 'bom':
        return plain(200, `\uFEFF${TEXT}`);
      case 'gone':
        return plain(410, TEXT);
      case 'missing':
        return plain(404, TEXT);
      case 'moved':
        return plain(302, TEXT, { Location: 'https://fine.example.com/.well-known/broadsheet-verification' });
      case 'inward':
        return plain(307, TEXT, { Location: `https://127.0.0.1:${web.port}${FILE_PATH}` });
      case 'other':
        return plain(200, `<!doctype html><a href="${TEXT}">${TEXT}</a>`);
      case 'huge':
        return plain(200, `${'x'.repeat(70_000)}\n${TEXT}`);
      case 'endless': {
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'.repeat(20_000)), 5);
        response.on('close', () => clearInterval(timer));
        return;
      }
      case 'broken':
        return plain(503, TEXT);
      case 'denied':
        return plain(403, TEXT);
      case 'nocontent':
        return plain(204, '');
      default:
        return plain(200, Buffer.from([0, 255, 254, 0xe2, 0x80, 0xae, 10, 0xc3, 0x28]));
    }
  };
  const web = await webServer(t, [...hosts, 'mixed.example.com'], answering);
  const prove = proverAt(t, knot.port, web);
  const said = async (name: string) => Object.values((await prove(`${name}.example.com`)).file).join(' ');
  for (const name of ['fine', 'lines', 'bom']) assert.equal(await said(name), 'found found', name);
  assert.equal(await said('gone'), 'absent status_410');
  assert.equal(await said('missing'), 'absent status_404');
  for (const name of ['moved', 'inward']) {
    const { length } = asked;
    assert.equal(await said(name), 'absent redirect', 'also one to a private address');
    assert.equal(asked.length, length + 1, 'where it leads is not asked');
  }
  assert.equal(await said('other'), 'absent other_text');
  assert.equal(await said('hostile'), 'absent other_text');
  for (const name of ['huge', 'endless']) assert.equal(await said(name), 'absent too_long', name);
  assert.equal(await said('broken'), 'unknown status_503');
  assert.equal(await said('denied'), 'unknown status_403');
  assert.equal(await said('nocontent'), 'unknown status_204');
  assert.equal(await said('nowhere'), 'absent no_address');
  assert.ok(asked.every((line) => line.startsWith('GET ') && line.endsWith(` ${FILE_PATH}`)));

  // A name that points at a private address too is not asked at all: the next answer might be that one alone.
  const before = asked.length;
  assert.equal(await said('private'), 'absent private_address');
  assert.equal(await said('mixed'), 'absent private_address');
  const guarded = proverAt(t, knot.port, web, { TLS_PRIVATE: '' });
  assert.equal((await guarded('fine.example.com')).file.detail, 'private_address');
  assert.equal(asked.length, before);

  const strangers = proverAt(t, knot.port, { port: web.port, ca: (await webServer(t, ['x.test'], answering)).ca });
  assert.deepEqual((await strangers('untrusted.example.com')).file, { outcome: 'unknown', detail: 'tls' });
  const closed = proverAt(t, knot.port, { port: await freePort(), ca: web.ca });
  assert.deepEqual((await closed('fine.example.com')).file, { outcome: 'unknown', detail: 'refused' });
});

/** Whether this process may listen on the port of HTTPS. */
const MAY_SERVE = await new Promise<boolean>((resolve) => {
  const server = createTcpServer().once('error', () => resolve(false));
  server.listen(443, HTTPS_HOST, () => server.close(() => resolve(true)));
});

test('an account proves a name over HTTPS, on its own port, against the server as it is started', {
  skip: ONLY_WIDE || WITHOUT_SERVERS || (!MAY_SERVE && 'needs the right to listen on port 443'),
}, async (t) => {
  const folder = tempFolder(t);
  const knot = await startKnot(join(folder, 'knot'), [{ name: 'example.com', lines: [`@ A ${HTTPS_HOST}`] }]);
  t.after(knot.stop);
  let file: [status: number, text: string, headers?: object] = [404, ''];
  const { ca } = await webServer(
    t,
    ['example.com'],
    ({ url }, response) => {
      const [status, text, headers = {}] = url === FILE_PATH ? file : [404, ''];
      response.writeHead(status, headers as Record<string, string>).end(text);
    },
    443,
    HTTPS_HOST,
  );
  writeFileSync(join(folder, 'ca.pem'), ca);
  const env = { SERVICES: 'records', SCANNER: 'off', RESOLVERS: `127.0.0.1:${knot.port}`, TLS_PRIVATE: '127.0.0.0/8' };
  const made = [
    'key',
    'create',
    '--service',
    'records',
    '--level',
    'account',
    '--name',
    'N',
    '--email',
    'a@example.org',
  ];
  const { records } = await serve(t, folder, { ...env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') });
  const [key = ''] = (await run(t, folder, made)).stdout.split('\n');
  const call = async (path: string, body: object) => {
    const { text } = await send(records, { method: 'POST', path, headers: { 'x-service-key': key }, body });
    return JSON.parse(text);
  };
  const begun = await call('/v1/account/names', { hostname: 'example.com' });
  const prove = async () => {
    const { state, way, checks } = await call('/v1/account/names/example.com/proof', {});
    return [state, way, checks[1].detail];
  };
  assert.deepEqual(await prove(), ['unproven', null, 'status_404']);
  file = [302, begun.file.content, { Location: `https://127.0.0.1${FILE_PATH}` }];
  assert.deepEqual(await prove(), ['unproven', null, 'redirect']);
  file = [200, begun.file.content];
  assert.deepEqual(await prove(), ['proven', 'file', 'found']);
});
