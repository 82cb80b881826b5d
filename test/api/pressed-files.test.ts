import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { copyDemo, DEMO_ORIGINS, run, serve, until } from '../support/program.ts';
import { shout } from '../support/raw.ts';

const PAPER = '/the-plumb-line';
const STORY = `${PAPER}/stories/yard-and-pound-1959/`;
const VIDEO = `${PAPER}/media/cast/2026-11-17.mp4`;

test('pressed files are served as HTTP has it', async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  const { url, records, stop } = await serve(t, folder, DEMO_ORIGINS);
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => ask(url, path, headers, method);
  const onDisk = (path: string) => readFileSync(join(folder, 'papers', path));

  await t.test('conditions', async () => {
    for (const path of [STORY, VIDEO, `${PAPER}/rss.xml`]) {
      const { status, headers } = await get(path);
      assert.equal(status, 200);
      assert.match(String(headers.etag), /^(W\/)?"[^"]+"$/);
      assert.ok(Date.parse(String(headers['last-modified'])) > 0);
      const conditions: Record<string, string>[] = [
        { 'if-none-match': String(headers.etag) },
        { 'if-none-match': '*' },
        { 'if-modified-since': String(headers['last-modified']) },
      ];
      for (const condition of conditions) {
        const again = await get(path, condition);
        assert.equal(again.status, 304);
        assert.equal(again.body.length, 0);
        for (const name of ['etag', 'vary', 'cache-control', 'content-security-policy']) {
          assert.equal(again.headers[name], headers[name], `${name} of a 304 on ${path}`);
        }
      }
      assert.equal((await get(path, { 'if-none-match': '"another"' })).status, 200);
      assert.equal((await get(path, { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).status, 200);
    }
  });

  await t.test('HEAD has the headers of GET and no body', async () => {
    for (const path of ['/', '/robots.txt', STORY, VIDEO, `${PAPER}/nothing`, '/nothing']) {
      for (const headers of [{}, { 'accept-encoding': 'br' }] as Record<string, string>[]) {
        const [head, whole] = [await get(path, headers, 'HEAD'), await get(path, headers)];
        assert.equal(head.status, whole.status);
        assert.equal(head.body.length, 0);
        for (const answer of [head, whole])
          for (const name of ['date', 'x-request-id', 'transfer-encoding']) delete answer.headers[name];
        assert.deepEqual(head.headers, whole.headers, path);
      }
    }
  });

  await t.test('a connection stays open after HEAD, compressed or not', async () => {
    const { host } = new URL(url);
    const asked = (method: string, path: string, more = '') =>
      `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip, br\r\n${more}\r\n`;
    const heads = Array.from({ length: 20 }, (_, at) => asked('HEAD', [STORY, VIDEO][at % 2] as string));
    const answers = await shout(
      url,
      `${heads.join('')}${asked('GET', `${PAPER}/robots.txt`, 'Connection: close\r\n')}`,
    );
    assert.equal(answers.match(/^HTTP\/1\.1 200 /gm)?.length, heads.length + 1);
    assert.ok(answers.includes('User-agent: *'), 'the answer to GET is the last');
  });

  await t.test('ranges of a video', async () => {
    const bytes = onDisk(VIDEO);
    const last = bytes.length - 1;
    for (const [range, from, to] of [
      ['bytes=0-99', 0, 99],
      ['bytes=-100', last - 99, last],
      [`bytes=${last - 9}-`, last - 9, last],
      ['bytes=100-99999999', 100, last],
      ['bytes=-99999999', 0, last],
    ] as const) {
      const { status, headers, body } = await get(VIDEO, { range, 'accept-encoding': 'gzip' });
      assert.equal(status, 206);
      assert.equal(headers['content-range'], `bytes ${from}-${to}/${bytes.length}`);
      assert.equal(headers['content-encoding'], undefined);
      assert.ok(body.equals(bytes.subarray(from, to + 1)), range);
    }
    const beyond = await get(VIDEO, { range: 'bytes=99999999-' });
    assert.equal(beyond.status, 416);
    assert.equal(beyond.headers['content-range'], `bytes */${bytes.length}`);
    assert.equal(beyond.body.length, 0);
    for (const range of ['bytes=0-1,5-6', 'lines=0-1', 'bytes=x', 'nonsense']) {
      const { status, body } = await get(VIDEO, { range });
      assert.equal(status, 200, range);
      assert.equal(body.length, bytes.length);
    }
    const { headers } = await get(VIDEO);
    assert.equal(headers['accept-ranges'], 'bytes');
    const continued = { range: 'bytes=5-9', 'if-range': String(headers.etag) };
    assert.equal((await get(VIDEO, continued)).status, 206);
    assert.equal((await get(VIDEO, { ...continued, 'if-range': String(headers['last-modified']) })).status, 206);
    assert.equal((await get(VIDEO, { ...continued, 'if-range': '"another"' })).status, 200);
    assert.equal((await get(VIDEO, { ...continued, 'if-range': 'Thu, 01 Jan 1970 00:00:00 GMT' })).status, 200);
  });

  await t.test('a range of a page is uncompressed; an invalid range gets the whole page', async () => {
    const part = await get(STORY, { range: 'bytes=0-99', 'accept-encoding': 'br' });
    assert.equal(part.status, 206);
    assert.equal(part.headers['content-encoding'], undefined);
    assert.equal(part.headers.vary, 'Accept, Accept-Encoding');
    assert.ok(part.body.equals(onDisk(`${STORY}index.html`).subarray(0, 100)));
    const { status, body } = await get(`${PAPER}/nothing`, { range: 'bytes=0-99' });
    assert.equal(status, 404);
    assert.ok(body.equals(onDisk(`${PAPER}/404.html`)));
  });

  await t.test('compressible files are compressed, and nothing else', async () => {
    for (const path of [
      STORY,
      `${PAPER}/rss.xml`,
      `${PAPER}/feed.json`,
      `${STORY}proof.json`,
      `${PAPER}/stories/yard-and-pound-1959.md`,
      assetOf('.css'),
    ]) {
      const plain = await get(path);
      assert.equal(plain.headers['content-encoding'], undefined, path);
      // Pages have a Markdown version at the same address.
      assert.equal(plain.headers.vary, path === STORY ? 'Accept, Accept-Encoding' : 'Accept-Encoding', path);
      const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
      assert.equal(brotli.headers['content-encoding'], 'br', path);
      assert.ok(brotliDecompressSync(brotli.body).equals(plain.body));
      const gzip = await get(path, { 'accept-encoding': 'gzip' });
      assert.equal(gzip.headers['content-encoding'], 'gzip', path);
      assert.ok(gunzipSync(gzip.body).equals(plain.body));
      assert.equal((await get(path, { 'accept-encoding': 'br;q=0, gzip;q=0' })).headers['content-encoding'], undefined);
    }
    const card = /cards\/[^"]+\.png/.exec((await get(STORY)).text)?.[0];
    for (const path of [VIDEO, `${PAPER}/${card}`, `${PAPER}/media/art/meridian.jpg`]) {
      const { status, headers } = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
      assert.equal(status, 200, path);
      assert.equal(headers['content-encoding'], undefined, path);
      assert.equal(headers.vary, undefined, path);
    }
  });

  function assetOf(ending: string): string {
    const page = onDisk(`${STORY}index.html`).toString();
    const found = new RegExp(`href="([^"]+_astro[^"]+\\${ending})"`).exec(page)?.[1];
    assert.ok(found, `the page names a ${ending}`);
    return found;
  }

  await t.test('Cache-Control of each kind of file', async () => {
    const card = /cards\/[^"]+\.png/.exec((await get(STORY)).text)?.[0];
    for (const path of [assetOf('.css'), `${PAPER}/${card}`]) {
      assert.match(String((await get(path)).headers['cache-control']), /immutable/, path);
    }
    for (const path of [STORY, `${PAPER}/`, `${PAPER}/rss.xml`]) {
      assert.match(String((await get(path)).headers['cache-control']), /max-age=0, s-maxage=60/, path);
    }
  });

  await t.test('a folder without its slash is redirected, with its query', async () => {
    for (const [path, location] of [
      [PAPER, `${PAPER}/`],
      [`${PAPER}?a=1&b=%20`, `${PAPER}/?a=1&b=%20`],
      [`${PAPER}/days?x`, `${PAPER}/days/?x`],
    ] as const) {
      const { status, headers } = await get(path);
      assert.equal(status, 301);
      assert.equal(headers.location, location);
    }
  });

  await t.test('a missing page is the paper’s own', async () => {
    const { status, body, headers } = await get(`${PAPER}/stories/never-written/`);
    assert.equal(status, 404);
    assert.ok(body.equals(onDisk(`${PAPER}/404.html`)));
    assert.match(String(headers['content-type']), /^text\/html/);
  });

  await t.test('only GET and HEAD are allowed', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      for (const path of ['/', STORY, '/nothing']) {
        const { status, headers, text } = await get(path, {}, method);
        assert.equal(status, 405);
        assert.equal(headers.allow, 'GET, HEAD, OPTIONS');
        assert.equal(JSON.parse(text).error, 'method_not_allowed');
      }
    }
  });

  await t.test('a withdrawn piece answers 410, and its page gives the reason', async () => {
    const args = ['withdraw', 'pigeons-carry-the-packets', '--paper', 'the-plumb-line', '--reason', 'It was wrong.'];
    assert.equal((await run(t, folder, args)).code, 0);
    for (const path of [
      '/stories/pigeons-carry-the-packets/',
      '/stories/pigeons-carry-the-packets/index.html',
      '/%73tories/pigeons-carry-the-packets/',
    ]) {
      const gone = await until(async () => {
        const answer = await get(`${PAPER}${path}`);
        return answer.status === 410 ? answer : null;
      });
      assert.match(gone.text, /It was wrong\./);
      assert.match(gone.text, /noindex/);
    }
  });

  const { code, stdout, signal } = await stop();
  assert.deepEqual([code, signal], [0, null]);
  assert.equal(stdout, `ready desk=${url} records=${records}\n`);
});
