import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

const OWN = 'https://tides.example';
const HOST = { host: 'tides.example' };
const PREFLIGHT = { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' };

test('effects of request headers', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: 'shared' },
    { slug: 'own', url: OWN },
    { slug: 'odd-port', url: 'http://twice.example:8080' },
    { slug: 'other-port', url: 'http://twice.example:9090' },
    { slug: 'quiet', url: 'https://quiet.example', isPublic: false },
  ]);
  const { url } = await serveHere(t, folder);
  const stories = JSON.parse((await ask(url, '/shared/api/v1/stories')).text).stories;
  const story: string = stories[0].slug;

  await t.test('a paper’s own domain is recognized with any port that a proxy leaves in the host', async () => {
    const deskAt = async (host: string, headers = {}) =>
      JSON.parse((await ask(url, '/api/v1', { host, ...headers })).text).paper ?? null;
    for (const host of ['tides.example', 'TIDES.example', 'tides.example:443', 'tides.example:4321', 'tides.example.'])
      assert.equal(await deskAt(host), 'own', host);
    assert.equal(await deskAt('twice.example:8080'), 'odd-port');
    assert.equal(await deskAt('twice.example:9090'), 'other-port');
    for (const host of ['twice.example', 'www.tides.example', new URL(url).host, 'quiet.example', 'quiet.example:81'])
      assert.equal(await deskAt(host), null, host);
    assert.equal(await deskAt('quiet.example:81', { 'x-nrf-key': keys.get('quiet')?.read }), 'quiet');
  });

  await t.test('a long response is compressed for gzip clients, with its own ETag', async () => {
    const path = '/shared/api/v1/stories';
    const plain = await ask(url, path);
    assert.equal(plain.headers['content-encoding'], undefined);
    for (const coding of ['gzip', 'br, gzip;q=0.5', 'deflate, GZIP']) {
      const packed = await ask(url, path, { 'accept-encoding': coding });
      assert.equal(packed.headers['content-encoding'], 'gzip', coding);
      assert.equal(gunzipSync(packed.body).toString(), plain.text);
      assert.notEqual(packed.headers.etag, plain.headers.etag);
      for (const { headers } of [plain, packed]) {
        assert.match(String(headers.vary), /Accept-Encoding/);
        assert.match(String(headers.etag), /^"[^"]+"$/);
      }
      // Either of the two is known to be the same.
      for (const etag of [packed.headers.etag, plain.headers.etag, `W/${packed.headers.etag}`]) {
        const known = { 'accept-encoding': coding, 'if-none-match': String(etag) };
        const again = await ask(url, path, known);
        assert.deepEqual([again.status, again.headers.etag], [304, String(etag).replace('W/', '')]);
      }
    }
    for (const coding of ['gzip;q=0', 'identity', 'br'])
      assert.equal((await ask(url, path, { 'accept-encoding': coding })).body.equals(plain.body), true, coding);
    const stale = { 'if-none-match': String((await ask(url, path, { 'accept-encoding': 'gzip' })).headers.etag) };
    assert.equal((await ask(url, path, stale)).status, 200, 'another packing is not what was asked for');
    const short = await ask(url, '/shared/api/v1/sections', { 'accept-encoding': 'gzip' });
    assert.equal(short.headers['content-encoding'], undefined);
  });

  await t.test('HEAD sends every header of GET, including Content-Length', async () => {
    const key = { 'x-nrf-key': keys.get('shared')?.read ?? '' };
    for (const [path, headers] of [
      ['/shared/api/v1/stories', {}],
      ['/shared/api/v1/stories', { 'accept-encoding': 'gzip' }],
      ['/shared/api/v1/drafts', key],
      ['/shared/api/v1/nothing', {}],
      ['/.well-known/api-catalog', {}],
      [`/shared/oembed?url=${url}/shared/stories/${story}/`, {}],
    ] as const) {
      const [head, whole] = [await ask(url, path, headers, 'HEAD'), await ask(url, path, headers)];
      assert.equal(head.status, whole.status, path);
      assert.equal(head.body.length, 0);
      assert.equal(whole.headers['content-length'], String(whole.body.length));
      for (const answer of [head, whole]) for (const name of ['date', 'x-request-id']) delete answer.headers[name];
      assert.deepEqual(head.headers, whole.headers, path);
    }
  });

  await t.test('files readable by other origins answer preflights, equally for every paper', async () => {
    const preflight = (path: string, headers = {}) => ask(url, path, { ...PREFLIGHT, ...headers }, 'OPTIONS');
    for (const file of [
      '/rss.xml',
      '/feed.json',
      '/front.json',
      '/.well-known/newsdesk-keys.json',
      `/stories/${story}/`,
    ]) {
      for (const [path, headers] of [
        [`/shared${file}`, {}],
        [file, HOST],
        [`/quiet${file}`, {}],
        [`/never${file}`, {}],
      ] as const) {
        const answer = await preflight(path, headers);
        assert.equal(answer.status, 204, path);
        assert.equal(answer.headers['access-control-allow-origin'], '*', path);
        assert.match(String(answer.headers['access-control-allow-headers']), /If-None-Match/);
      }
    }
    assert.equal((await preflight('/.well-known/api-catalog')).headers['access-control-allow-origin'], '*');
    for (const path of ['/', '/shared/', '/shared/masthead/', '/never/', '/shared/subscribe/confirm']) {
      const answer = await preflight(path);
      assert.equal(answer.status, 204, path);
      assert.match(String(answer.headers.allow), /GET, HEAD, OPTIONS/);
      assert.equal(answer.headers['access-control-allow-origin'], undefined, path);
    }
    const feed = await ask(url, '/shared/feed.json');
    assert.equal(feed.headers['access-control-expose-headers'], 'ETag', 'what the page then asks with');
    const known = String((await ask(url, '/.well-known/api-catalog')).headers.etag);
    const again = await ask(url, '/.well-known/api-catalog', { 'if-none-match': known });
    assert.deepEqual([again.status, again.headers['access-control-allow-origin']], [304, '*']);
  });
});
