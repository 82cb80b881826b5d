import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const OWN = 'https://tides.example';

test('a paper with an address of its own is readable on the shared host', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: 'tides', url: OWN },
    { slug: 'news', url: 'https://news.example/news' },
    { slug: 'quiet', url: 'https://quiet.example', isPublic: false },
  ]);
  // What is filed stays; the folders would be filed again.
  rmSync(join(folder, 'content'), { recursive: true });
  const { url } = await serveHere(t, folder);
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => ask(url, path, headers, method);

  for (const slug of ['tides', 'news']) {
    await t.test(`every link of ${slug} leads to a page there`, { skip: slug === 'news' && ONLY_WIDE }, async () => {
      const seen = new Set<string>();
      const left = [`/${slug}/`];
      for (let path = left.pop(); path !== undefined; path = left.pop()) {
        if (seen.has(path)) continue;
        seen.add(path);
        const { status, headers, text } = await get(path);
        assert.equal(status, 200, path);
        if (!String(headers['content-type']).startsWith('text/html') || path === '/log/') continue;
        const found = [
          ...text.matchAll(
            /<(?:a|img|form|script|source|video|track|iframe)\b[^>]* (?:href|src|action|poster|data-[a-z]+)="([^"]*)"/g,
          ),
        ];
        const styles = text.matchAll(/<link rel="(?:stylesheet|icon|preload)"[^>]* href="([^"]*)"/g);
        for (const [, address = ''] of [...found, ...styles]) {
          assert.ok(!address.startsWith(`https://${slug}.example`), `${path} leads to ${address}`);
          if (!address.startsWith('/')) continue;
          assert.match(address, new RegExp(`^/(?:${slug}/|log/)`), path);
          const next = address.replace(/[?#].*$/, '');
          // The form's address takes no GET, and the log has files only once a head is signed.
          if (!next.includes('/api/') && next !== '/log/') left.push(next);
        }
      }
      for (const path of [
        'stories/high-water/',
        'sections/tides/',
        'cast/2026-11-19/',
        'masthead/vera-holm/',
        'search/',
      ])
        assert.ok(seen.has(`/${slug}/${path}`), path);
    });
  }

  await t.test('pages name the paper’s own address, and search engines list only that', async () => {
    const { headers, text } = await get('/tides/stories/high-water/');
    assert.match(text, /<link rel="canonical" href="https:\/\/tides\.example\/stories\/high-water\/"/);
    assert.match(text, /article:author" content="https:\/\/tides\.example\/masthead\/vera-holm\/"/);
    assert.equal(headers['x-robots-tag'], 'noindex');
    const missing = await get('/tides/nothing', { accept: 'text/html' });
    assert.deepEqual([missing.status, missing.headers['x-robots-tag']], [404, 'noindex']);
    assert.match(missing.text, /href="\/tides\/"/);
    // At its own address it is the file as pressed.
    const own = await get('/stories/high-water/', { host: 'tides.example' });
    assert.equal(own.text, readFileSync(join(folder, 'papers/tides/stories/high-water/index.html'), 'utf8'));
    assert.equal(own.headers['x-robots-tag'], undefined);
    // The list of papers of a machine of one's own stays on it.
    assert.match((await get('/')).text, new RegExp(`href="${url}/tides/"`));
  });

  await t.test('HEAD and conditional requests behave as for a file, and a publish is visible immediately', async () => {
    const before = await get('/tides/');
    const head = await get('/tides/', {}, 'HEAD');
    assert.deepEqual([head.status, head.body.length], [200, 0]);
    for (const name of ['etag', 'content-length', 'content-type', 'cache-control', 'x-robots-tag'])
      assert.equal(head.headers[name], before.headers[name], name);
    const again = await get('/tides/', { 'if-none-match': String(before.headers.etag) });
    assert.deepEqual([again.status, again.body.length], [304, 0]);
    const filed = await send(url, {
      method: 'POST',
      path: '/tides/api/v1/stories',
      headers: { 'x-nrf-key': keys.get('tides')?.admin ?? '' },
      body: { ...storyBody('a-king-tide'), air: true },
    });
    assert.equal(filed.status, 201);
    const now = await get('/tides/', { 'if-none-match': String(before.headers.etag) });
    assert.equal(now.status, 200);
    assert.match(now.text, /href="\/tides\/stories\/a-king-tide\/"/);
  });

  await t.test('so is a private paper, to its key alone', async () => {
    assert.equal((await get('/quiet/')).status, 404);
    const { status, text } = await get('/quiet/', { 'x-nrf-key': keys.get('quiet')?.read ?? '' });
    assert.equal(status, 200);
    assert.match(text, /href="\/quiet\/stories\/high-water\/"/);
    assert.doesNotMatch(text, /href="\/stories\//);
  });
});
