import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { robotsOf } from '../../../src/desk/sources/robots.ts';
import { sourceReader } from '../../../src/desk/sources/source-reader.ts';
import { warcOf } from '../../../src/desk/sources/warc.ts';
import type { Scope } from '../../support/app-context.ts';
import { loopback } from '../../support/loopback.ts';
import { assertSoundWarc, NEEDS_WARCIO } from '../../support/warc.ts';

/** A site at a name that stands for the public network; every other name leads to a private address. */
async function site(t: Scope, routes: Record<string, RequestListener>, options = {}) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const route = routes[request.url ?? ''];
    if (route === undefined) response.writeHead(404).end();
    else route(request, response);
  });
  const { port } = new URL(await loopback(t, server));
  let resolved = 0;
  const read = sourceReader({
    agent: 'test',
    allows: (address) => address === '127.0.0.1',
    async resolve(host) {
      if (host === 'rebinding.example') return [resolved++ === 0 ? '127.0.0.1' : '127.0.0.2'];
      return [host === 'source.example' ? '127.0.0.1' : '127.0.0.2'];
    },
    hostPause: 0,
    sourceMax: 100_000,
    deadline: 2_000,
    ...options,
  });
  return { root: `http://source.example:${port}`, port, asked, read };
}

const text =
  (body: string | Uint8Array, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body);
const redirect =
  (location: string): RequestListener =>
  (_request, response) =>
    response.writeHead(302, { location }).end('moved');

const reasonOf = (reading: object) => ('reason' in reading ? reading.reason : reading);

test('a source is read after redirects, and kept as WARC records that other tools accept', async (t) => {
  const { root, read, asked } = await site(t, {
    '/old': redirect('/report#part'),
    '/report': text('The harbour is 12 m deep.', { 'x-note': 'a' }),
  });
  const reading = await read(`${root}/old#top`);
  assert.ok(reading.outcome === 'read');
  assert.deepEqual(
    [reading.status, reading.url, `${reading.plain}`],
    [200, `${root}/report`, 'The harbour is 12 m deep.'],
  );
  assert.deepEqual(asked, ['/robots.txt', '/old', '/report']);
  const { exchanges } = reading;
  const warc = warcOf({ instrument: `${root}/old`, readAt: '2026-11-27T07:00:00.000Z', exchanges });
  assertSoundWarc(t, warc, 6);
});

test('what cannot be read says why', async (t) => {
  let times = 0;
  const { root, port, read } = await site(t, {
    '/inner': redirect('http://inner.example/'),
    '/loopback': redirect('http://[::1]:9/'),
    '/file': redirect('file:///etc/passwd'),
    '/round': redirect('/round'),
    '/endless': (_request, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write('x'.repeat(1_000)), 1);
      response.on('close', () => clearInterval(more));
    },
    '/slow': (_request, response) => void response.writeHead(200).write('x'),
    '/short': (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('x');
      setTimeout(() => response.destroy(), 50);
    },
    '/claims': text('short', { 'content-length': '2000000000' }),
    '/bomb': text(gzipSync(Buffer.alloc(1_000_000)), { 'content-encoding': 'gzip' }),
    '/damaged': text('no gzip', { 'content-encoding': 'gzip' }),
    '/unknown': text('x', { 'content-encoding': 'zstd' }),
    '/error': (_request, response) => response.writeHead(503).end(),
    '/gone': (_request, response) => response.writeHead(410).end(),
    '/two': (_request, response) => response.end(`${times++}`),
  });
  const cases: [string, unknown][] = [
    [`${root}/inner`, 'private_address'],
    [`${root}/loopback`, 'private_address'],
    [`${root}/file`, 'redirect to no web address'],
    [`${root}/round`, 'more than 5 redirects'],
    [`${root}/endless`, 'longer than 100000 bytes'],
    [`${root}/slow`, 'timeout'],
    [`${root}/short`, 'closed'],
    [`${root}/claims`, 'closed'],
    [`${root}/bomb`, 'its gzip cannot be decoded, or is too long'],
    [`${root}/damaged`, 'its gzip cannot be decoded, or is too long'],
    [`${root}/unknown`, 'an unknown content coding'],
    [`${root}/error`, 'status 503'],
    ['http://127.0.0.2/', 'private_address'],
    ['http://user:secret@source.example/', 'not a web address'],
    ['http://source.example/a b', 'not a web address'],
    ['Harbour ledger, page 4', 'not a web address'],
    [`http://rebinding.example:${port}/two`, 'private_address'],
  ];
  for (const [address, reason] of cases) assert.equal(reasonOf(await read(address)), reason, address);
  assert.equal((await read(`${root}/gone`)).outcome, 'gone');
  assert.equal((await read(`${root}/none`)).outcome, 'gone');
  const [first, second] = [await read(`${root}/two`), await read(`${root}/two`)];
  assert.ok(first.outcome === 'read' && second.outcome === 'read' && !first.body.equals(second.body));
});

test('a site that answers in a coding that nobody asked for is read', async (t) => {
  const { root, read } = await site(t, { '/a': text(gzipSync('plain'), { 'Content-Encoding': 'gzip' }) });
  const reading = await read(`${root}/a`);
  assert.ok(reading.outcome === 'read');
  assert.equal(`${reading.plain}`, 'plain');
  assert.ok(reading.body.equals(gzipSync('plain')), 'what came is kept');
  assertSoundWarc(
    t,
    warcOf({ instrument: reading.url, readAt: '2026-11-27T07:00:00.000Z', exchanges: reading.exchanges }),
    3,
  );
});

test('warcio accepts the archive of every kind of answer that is kept', { skip: NEEDS_WARCIO }, async (t) => {
  const coded = (coding: string, body: Uint8Array) => text(body, { 'content-encoding': coding });
  const many = 'The harbour is twelve metres deep. '.repeat(1_000);
  const kinds: Record<string, RequestListener> = {
    '/html': text('<!doctype html><meta charset=utf-8><p>Zwölf Meter', { 'content-type': 'text/html' }),
    '/pdf': text(Buffer.from('%PDF-1.4\n\0\r\n\xff%%EOF', 'latin1'), { 'content-type': 'application/pdf' }),
    '/gzip': coded('gzip', gzipSync(many)),
    '/x-gzip': coded('X-GZIP', gzipSync('plain')),
    '/deflate': coded('deflate', deflateSync('plain')),
    '/br': coded('br', brotliCompressSync('plain')),
    '/chunked': (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' });
      response.write('The harbour ');
      response.end('is 12 m deep.');
    },
    '/until-closed': (_request, response) => {
      response.socket?.end('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nIt is 12 m.');
    },
    '/empty': text(''),
    '/no-content': (_request, response) => response.writeHead(204).end(),
    '/looks-like-one': text('WARC/1.0\r\nWARC-Type: response\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'),
    '/two-cookies': (_request, response) =>
      response.writeHead(200, { 'set-cookie': ['a=1', 'b=\xe9'], 'content-type': 'text/plain' }).end('x'),
    '/caf%C3%A9?a=%00': text('x'),
  };
  const { root, read } = await site(t, {
    ...kinds,
    '/3': redirect('/2'),
    '/2': redirect('/1'),
    '/1': redirect('/gzip'),
  });
  const archives: Buffer[] = [];
  const paths = [...Object.keys(kinds), '/3'];
  for (const path of paths) {
    const reading = await read(`${root}${path}`);
    assert.ok(reading.outcome === 'read', `${path}: ${reasonOf(reading)}`);
    const { exchanges } = reading;
    archives.push(warcOf({ instrument: new URL(path, root).href, readAt: '2026-11-27T07:00:00.000Z', exchanges }));
  }
  // Archives one after the other are one. Each exchange is two records, and three where a redirect led to it; nothing
  // refers to an earlier archive.
  assertSoundWarc(t, Buffer.concat(archives), paths.length * 3 + 3 * 3);
});

test('robots.txt is asked once and followed, and a host gets its pauses', async (t) => {
  const rules = 'User-agent: *\nDisallow: /private/\n';
  const { root, read, asked } = await site(t, { '/robots.txt': text(rules), '/a': text('a') }, { hostPause: 60 });
  const began = performance.now();
  assert.equal(reasonOf(await read(`${root}/private/x`)), 'robots.txt forbids it');
  assert.equal((await read(`${root}/a`)).outcome, 'read');
  assert.equal((await read(`${root}/a`)).outcome, 'read');
  assert.ok(performance.now() - began > 110, 'two pauses between three requests');
  assert.deepEqual(asked, ['/robots.txt', '/a', '/a']);
  const failing = await site(t, {
    '/robots.txt': (_request, response) => response.writeHead(500).end(),
    '/a': text('a'),
  });
  assert.equal(reasonOf(await failing.read(`${failing.root}/a`)), 'robots.txt cannot be read');
});

test('rules for robots are those of RFC 9309', () => {
  const allows = (rules: string, path: string) => robotsOf(rules).allows(path);
  const rules =
    'User-agent: other\nUser-agent: Broadsheet/2.0 # a comment\nDisallow: /a\nAllow: /a/b\nDisallow: /*.pdf$\nDisallow: /%7Ejoe/\n\nUser-agent: *\nDisallow: /\n';
  for (const [path, is] of [
    ['/', true],
    ['/a', false],
    ['/ab', false],
    ['/a/b/c', true],
    ['/x/y.pdf', false],
    ['/x/y.pdf?z', true],
    ['/%7ejoe/x', false],
    ['/robots.txt', true],
  ] as const) {
    assert.equal(allows(rules, path), is, path);
  }
  assert.equal(allows('User-agent: *\nDisallow: /\n', '/x'), false);
  assert.equal(allows('User-agent: *\nDisallow:\n', '/x'), true);
  assert.equal(allows('Disallow: /', '/x'), true, 'rules of nobody');
  assert.equal(allows('User-agent: *\nDisallow: /p\nAllow: /p', '/p'), true, 'the friendlier of two equal rules');
  assert.equal(allows('User-agent: *\nDisallow: /a$\n', '/a'), false);
  assert.equal(allows('User-agent: *\nDisallow: /a$\n', '/ab'), true);
  assert.equal(allows('\ufeff\0<html>not rules', '/x'), true);
});

test('a source behind many slow answers is given up', async (t) => {
  const { root, read, asked } = await site(
    t,
    {
      '/a': (_request, response) => void setTimeout(() => response.writeHead(302, { location: '/b' }).end(), 300),
      '/b': text('It is so.'),
    },
    { readingMax: 200 },
  );
  assert.equal(reasonOf(await read(`${root}/a`)), 'it takes too long');
  assert.deepEqual(asked, ['/robots.txt', '/a']);
});
