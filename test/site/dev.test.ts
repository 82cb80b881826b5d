import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { dev, serveDev } from '../support/dev-server.ts';
import { ask } from '../support/http.ts';
import { copyContent } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('npm run dev names an invalid PORT, and one in use', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  for (const [PORT, words] of [
    ['abc', 'broadsheet: PORT=abc: must be a port number; correct it in the environment or in .env'],
    ...(ONLY_WIDE === false ? ([['70000', 'broadsheet: PORT=70000: ']] as const) : []),
    [String(port), `broadsheet: port ${port} of 127.0.0.1 is taken; set PORT to another one, or to 0 for a free one`],
  ] as const) {
    const { said, ended } = dev(t, folder, { PORT });
    const [code] = await ended;
    assert.equal(code, 1, said.text);
    assert.ok(said.text.startsWith(words), said.text);
    assert.equal(said.text.split('\n').length, 2, 'in one line');
  }
});

test('npm run dev shows the papers of a new machine, each file by its type', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyContent(folder);
  const { child, url, ended } = await serveDev(t, folder);
  const paper = '/the-plumb-line';
  for (const [path, type, text] of [
    ['/newsstand/', 'text/html', 'The Plumb Line'],
    ['/_desk/', 'text/html', 'Writing desk'],
    [`${paper}/`, 'text/html', '<broadsheet-desk'],
    ['/log/', 'text/html', 'Transparency log'],
    ['/favicon.svg', 'image/svg+xml', '<svg'],
    [`${paper}/`, 'text/html', '/@vite/client'],
    [`${paper}/stories/yard-and-pound-1959/`, 'text/html', '/@vite/client'],
    [`${paper}/stories/yard-and-pound-1959.md`, 'text/markdown', 'headline'],
    [`${paper}/embed/yard-and-pound-1959/`, 'text/html', 'yard'],
    [`${paper}/cast/2026-11-17/`, 'text/html', '<video'],
    [`${paper}/hue.css`, 'text/css', '--hue'],
    [`${paper}/favicon.svg`, 'image/svg+xml', '<svg'],
    [`${paper}/rss.xml`, 'application/rss+xml', '<rss'],
    [`${paper}/feed.json`, 'application/feed+json', '"items"'],
    [`${paper}/sitemap.xml`, 'application/xml', '<sitemapindex'],
    [`${paper}/llms.txt`, 'text/plain', '# The Plumb Line'],
    [`${paper}/media/art/yard.svg`, 'image/svg+xml', '<svg'],
    [`${paper}/media/cast/2026-11-17.mp4`, 'video/mp4', 'ftyp'],
    [`${paper}/media/cast/2026-11-17.vtt`, 'text/vtt', 'WEBVTT'],
  ] as const) {
    const answer = await ask(url, path);
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
    assert.ok(String(answer.headers['content-type']).startsWith(type), `${path} is ${answer.headers['content-type']}`);
    assert.ok(answer.text.includes(text), `${path} holds ${text}`);
  }
  for (const path of [
    `${paper}/nothing`,
    `${paper}/stories/nothing/`,
    `${paper}/stories/yard-and-pound-1959/proof.json`,
    `${paper}/_headers`,
    '/nothing',
    '/paper/front',
    '/newsstand',
  ]) {
    assert.equal((await ask(url, path)).status, 404, path);
  }
  for (const [path, location] of [
    [paper, `${paper}/`],
    [`${paper}/stories/yard-and-pound-1959?a=b`, `${paper}/stories/yard-and-pound-1959/?a=b`],
  ] as const) {
    assert.equal((await ask(url, path)).headers.location, location);
  }
  const front = (await ask(url, `${paper}/`)).text;
  for (const [, href = ''] of front.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)) {
    const { status, headers } = await ask(url, href, { accept: 'text/css' });
    assert.deepEqual([status, String(headers['content-type']).slice(0, 8)], [200, 'text/css'], href);
  }
  const story = (await ask(url, `${paper}/stories/yard-and-pound-1959/`)).text;
  assert.ok(!story.includes('id="proof"'), 'nothing is signed');
  assert.match(
    String((await ask(url, '/')).headers.location),
    /^\/[a-z-]+\/stories\/[a-z0-9-]+\/$/,
    'the piece saved last',
  );
  assert.deepEqual(readdirSync(folder), ['content'], 'nothing is filed');
  child.kill('SIGTERM');
  await ended;
});
