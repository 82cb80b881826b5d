import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { run } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

test('no address leads out of a paper, or into one that is private', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [
    { slug: 'the-plumb-line' },
    { slug: 'the-leading-light' },
    { slug: 'quiet-paper', isPublic: false },
    { slug: 'own-paper', url: 'http://own.example' },
    { slug: 'deep-paper', url: 'http://deep.example/daily/news' },
  ]);
  const { url, said, stop } = await serveHere(t, folder, { LOG_LEVEL: 'info' });
  const tree = join(folder, 'papers/the-plumb-line');
  writeFileSync(join(tree, '.secret'), 'hidden');

  await t.test('strange paths are not found', async () => {
    const paths = [
      '/../../etc/passwd',
      '/%2e%2e%2f%2e%2e%2fvar%2fbroadsheet.db',
      '/%252e%252e%252fvar/broadsheet.db',
      '/..%2f..%2fvar/door.key',
      '/..%5c..%5cvar',
      '/stories/..%2f_headers',
      '/a%00b',
      '/index.html%00',
      '/%zz',
      '/%',
      '/%ff%fe',
      '//index.html',
      '/stories//high-water/',
      '/stories/.%2fhigh-water/',
      '/.secret',
      '/%2esecret',
      '/_headers',
      '/%5fheaders',
      '/.press/',
      `/${'a'.repeat(12_000)}`,
      `/${'a/'.repeat(6_000)}`,
    ];
    for (const prefix of ['/the-plumb-line', '', '/quiet-paper', '/nothing']) {
      for (const path of paths) {
        const { status, text } = await ask(url, prefix + path);
        assert.equal(status, 404, `${prefix}${path.slice(0, 80)}`);
        assert.doesNotMatch(text, /root:|PRIVATE|hidden|SQLite/);
      }
    }
    assert.equal((await ask(url, `/the-plumb-line/${'a'.repeat(20_000)}`)).status, 431);
    // A path is tidied as every client does it, before it is looked at.
    assert.equal((await ask(url, '/the-plumb-line/../the-leading-light/')).status, 200);
    assert.equal((await ask(url, '/the-plumb-line/.well-known/security.txt')).status, 200);
  });

  await t.test('a redirect never leads to another host', async () => {
    for (const path of ['//the-plumb-line', '//own.example/days', '/the-plumb-line//days', '//days']) {
      for (const host of [new URL(url).host, 'own.example']) {
        const { headers } = await ask(url, path, { host });
        assert.doesNotMatch(headers.location ?? '', /^\/\/|^http/, path);
      }
    }
  });

  await t.test('a strange Host is answered, and not with a failure', async () => {
    for (const host of ['', 'nobody.example', 'a b', '[::1', 'own.example:99999', 'x/../y']) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write(`GET /the-plumb-line/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await once(socket, 'close');
      assert.match(text, /^HTTP\/1\.1 (200|400|404) /, JSON.stringify(host));
    }
  });

  await t.test('a private paper is as one that does not exist', async () => {
    assert.equal(treeOf(join(folder, 'papers/quiet-paper')).size, 0);
    for (const method of ['GET', 'HEAD', 'POST']) {
      for (const rest of ['', '/', '/index.html', '/stories/low-water/', '/api/v1/stories', '/rss.xml', '/_headers']) {
        for (const accept of ['*/*', 'text/html', 'application/json', 'application/problem+json']) {
          const [hidden, absent] = await Promise.all(
            ['quiet-paper', 'absent-paper'].map((slug) => ask(url, `/${slug}${rest}`, { accept }, method)),
          );
          for (const answer of [hidden, absent])
            for (const name of ['x-request-id', 'date']) delete answer?.headers[name];
          assert.equal(hidden?.status, method === 'POST' && !rest.startsWith('/api') ? 405 : 404);
          assert.equal(hidden?.status, absent?.status);
          assert.deepEqual(hidden?.headers, absent?.headers);
          assert.equal(hidden?.text, absent?.text);
        }
      }
    }
    for (const path of ['/', '/robots.txt']) assert.doesNotMatch((await ask(url, path)).text, /quiet-paper/);
  });

  await t.test('a paper with a domain of its own is at its root, alone', async () => {
    const own = { host: 'own.example' };
    const front = await ask(url, '/', own);
    assert.equal(front.status, 200);
    assert.match(front.text, /<link rel="canonical" href="http:\/\/own\.example\/"/);
    assert.equal((await ask(url, '/stories/low-water/', own)).status, 200);
    assert.equal((await ask(url, '/stories/low-water', own)).headers.location, '/stories/low-water/');
    assert.match((await ask(url, '/robots.txt', own)).text, /^Sitemap: http:\/\/own\.example\/sitemap\.xml$/m);
    assert.match((await ask(url, '/nothing', own)).text, /own\.example/);
    for (const path of ['/the-plumb-line/', '/quiet-paper/', '/the-plumb-line/rss.xml']) {
      assert.equal((await ask(url, path, own)).status, 404, path);
    }
    const deep = { host: 'deep.example' };
    assert.equal((await ask(url, '/daily/news/', deep)).status, 200);
    assert.equal((await ask(url, '/daily/news', deep)).headers.location, '/daily/news/');
    for (const path of ['/daily/newsroom', '/daily/', '/the-plumb-line/'])
      assert.equal((await ask(url, path, deep)).status, 404, path);
  });

  await t.test('logs hold no query and no key', async () => {
    await ask(url, '/the-plumb-line/?token=t0psecret', {
      authorization: 'Bearer nrf_t0psecret',
      cookie: 'c=t0psecret',
      referer: 'http://t0psecret',
    });
    await ask(url, '/nothing?token=t0psecret', { 'x-forwarded-for': 't0psecret' });
    // The log is written in batches: all of it is there when the server has stopped.
    await stop();
    assert.match(said.stderr, /"path":"\/the-plumb-line\/"/);
    assert.doesNotMatch(said.stderr, /t0psecret/);
    // A long press also says how far it has come.
    for (const line of said.stderr
      .trim()
      .split('\n')
      .filter((text) => !text.startsWith('press ')))
      assert.equal(typeof JSON.parse(line).msg, 'string');
    assert.doesNotMatch(said.stderr, /"level":50/);
  });

  await t.test('a full press removes stray files', async () => {
    assert.equal((await run(t, folder, ['press', '--full'], { ORIGIN: url })).code, 0);
    assert.equal(treeOf(tree).has('.secret'), false);
  });
});
