import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder, treeOf } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { copyDemo } from '../support/program.ts';
import { serveHere } from '../support/serve-here.ts';

const UUID = /^[0-9a-f-]{36}$/;

test('every response has a content type and security headers', async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  const { url, records } = await serveHere(t, folder);
  const tree = join(folder, 'papers/the-plumb-line');

  await t.test('an error is JSON, a problem document or a page, as requested', async () => {
    const record = await ask(url, '/nothing', { accept: 'application/json' });
    assert.equal(record.status, 404);
    assert.match(String(record.headers['content-type']), /^application\/json/);
    assert.deepEqual(Object.keys(JSON.parse(record.text)), ['error', 'message']);
    assert.equal(JSON.parse(record.text).error, 'not_found');

    const problem = await ask(url, '/nothing', { accept: 'application/problem+json' });
    assert.match(String(problem.headers['content-type']), /^application\/problem\+json/);
    const { type, title, status, detail, error } = JSON.parse(problem.text);
    assert.deepEqual([type, title, status, error], ['about:blank', 'Not Found', 404, 'not_found']);
    assert.equal(detail, JSON.parse(record.text).message);

    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await ask(url, '/nothing', { accept: browser });
    assert.equal(page.status, 404);
    assert.match(String(page.headers['content-type']), /^text\/html/);
    assert.match(page.text, /<a href="\/">/);
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
    for (const { headers } of [record, problem, page]) assert.match(String(headers.vary), /Accept/);

    const own = await ask(url, '/the-plumb-line/nothing', { accept: 'application/json' });
    assert.deepEqual([own.status, JSON.parse(own.text).error], [404, 'not_found']);
    const missing = await ask(url, '/the-plumb-line/nothing');
    assert.equal(missing.status, 404);
    assert.match(missing.text, /The Plumb Line/);
    assert.match(String(missing.headers.vary), /Accept\b.*Accept-Encoding/);

    const api = await ask(url, '/the-plumb-line/api/v1/nothing', { accept: browser });
    assert.equal(api.status, 404);
    assert.equal(JSON.parse(api.text).error, 'not_found');
  });

  await t.test('every response carries the id that the log uses', async () => {
    const seen = new Set<string>();
    for (const path of [
      '/',
      '/robots.txt',
      '/favicon.svg',
      '/nothing',
      '/the-plumb-line',
      '/the-plumb-line/',
      '/the-plumb-line/nothing',
      '/the-plumb-line/api/v1/x',
      '/the-plumb-line/media/cast/2026-11-17.mp4',
    ]) {
      const { headers } = await ask(url, path);
      assert.match(String(headers['x-request-id']), UUID, path);
      seen.add(String(headers['x-request-id']));
    }
    assert.equal(seen.size, 9);
    assert.match(String((await ask(url, '/', { 'x-request-id': 'a b<script>' })).headers['x-request-id']), UUID);
  });

  await t.test('the headers of a file are those that _headers lists for it', async () => {
    const rules = rulesOf(readFileSync(join(tree, '_headers'), 'utf8'));
    for (const file of treeOf(tree).keys()) {
      if (file === '_headers') continue;
      const path = `/the-plumb-line/${file.replace(/(^|\/)index\.html$/, '$1')}`;
      const { status, headers } = await ask(url, path, {}, 'HEAD');
      assert.equal(status, 200, path);
      const listed = rules.filter(({ pattern }) => pattern.test(path)).flatMap((rule) => rule.headers);
      assert.ok(
        listed.some(([name]) => name === 'content-security-policy'),
        `${path} has a policy`,
      );
      for (const [name, value] of listed) assert.equal(headers[name], value, `${name} of ${path}`);
      for (const name of [
        'content-security-policy',
        'access-control-allow-origin',
        'cross-origin-resource-policy',
        'strict-transport-security',
      ]) {
        if (headers[name] !== undefined)
          assert.ok(
            listed.some(([known]) => known === name),
            `${name} of ${path} is listed`,
          );
      }
    }
  });

  await t.test('no script but the paper’s own runs, and a drawing runs none', async () => {
    const page = String((await ask(url, '/the-plumb-line/')).headers['content-security-policy']);
    assert.doesNotMatch(page, /script-src[^;]*unsafe/);
    const drawing = await ask(url, '/the-plumb-line/media/art/yard.svg');
    assert.match(String(drawing.headers['content-type']), /^image\/svg\+xml/);
    assert.match(String(drawing.headers['content-security-policy']), /(^|; )sandbox(;|$)/);
    const embed = String(
      (await ask(url, '/the-plumb-line/embed/yard-and-pound-1959/')).headers['content-security-policy'],
    );
    assert.doesNotMatch(embed, /script-src[^;]*unsafe/);
    assert.match(embed, /script-src 'sha256-/);
  });

  await t.test('types', async () => {
    for (const [path, type] of [
      ['/the-plumb-line/', 'text/html; charset=utf-8'],
      ['/the-plumb-line/rss.xml', 'application/rss+xml; charset=utf-8'],
      ['/the-plumb-line/feed.json', 'application/feed+json; charset=utf-8'],
      ['/the-plumb-line/front.json', 'application/json; charset=utf-8'],
      ['/the-plumb-line/sitemap.xml', 'application/xml'],
      ['/the-plumb-line/stories/yard-and-pound-1959.md', 'text/markdown; charset=utf-8'],
      ['/the-plumb-line/agents/SKILL.md', 'text/markdown; charset=utf-8'],
      ['/the-plumb-line/media/cast/2026-11-17.vtt', 'text/vtt; charset=utf-8'],
      ['/the-plumb-line/media/cast/2026-11-17.mp4', 'video/mp4'],
      ['/the-plumb-line/media/art/meridian.jpg', 'image/jpeg'],
      ['/the-plumb-line/llms.txt', 'text/plain; charset=utf-8'],
      ['/robots.txt', 'text/plain; charset=UTF-8'],
      ['/favicon.svg', 'image/svg+xml'],
    ] as const) {
      const { status, headers } = await ask(url, path);
      assert.equal(status, 200, path);
      assert.equal(headers['content-type'], type, path);
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
    }
  });

  await t.test('health reports the longest wait of callers', async () => {
    for (const base of [url, records]) {
      const { status, headers, text } = await ask(base, '/health');
      assert.deepEqual([status, headers['cache-control']], [200, 'no-store']);
      const { status: said, event_loop_delay_max_ms: delay } = JSON.parse(text);
      assert.equal(said, 'ok');
      // The server measures itself, and its start alone took its while.
      assert.ok(Number.isInteger(delay) && delay >= 0, text);
    }
    assert.equal((await ask(url, '/health', { host: 'other.example' })).status, 200);
  });

  await t.test('the newsstand lists the papers, and robots.txt their sitemaps', async () => {
    const stand = await ask(url, '/');
    assert.match(stand.text, /The Plumb Line/);
    assert.match(stand.text, /The Leading Light/);
    assert.equal((await ask(url, '/', { 'if-none-match': String(stand.headers.etag) })).status, 304);
    for (const [, path = ''] of stand.text.matchAll(/(?:href|src)="(\/[^"]*)"/g)) {
      assert.equal((await ask(url, path)).status, 200, path);
    }
    const { text } = await ask(url, '/robots.txt');
    for (const paper of ['the-plumb-line', 'the-leading-light']) {
      for (const name of ['sitemap', 'sitemap-news']) {
        assert.ok(text.includes(`Sitemap: ${url}/${paper}/${name}.xml\n`));
        assert.equal((await ask(url, `/${paper}/${name}.xml`)).status, 200);
      }
    }
  });
});

interface Rule {
  pattern: RegExp;
  headers: (readonly [string, string])[];
}

/** Reads `_headers` as the hosts do that know such files. */
function rulesOf(text: string): Rule[] {
  return text
    .trim()
    .split('\n\n')
    .map((block) => {
      const [path = '', ...lines] = block.split('\n');
      const source = path
        .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:[a-z]+/g, '[^/]+')
        .replace(/\*/g, '.*');
      const headers = lines.map((line) => {
        const at = line.indexOf(':');
        return [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()] as const;
      });
      return { pattern: new RegExp(`^${source}$`), headers };
    });
}
